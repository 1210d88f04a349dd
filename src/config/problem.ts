/** One thing wrong with the configuration, or with a file of parameters. */
export interface ConfigProblem {
  readonly severity: 'error' | 'warning' | 'note';
  /** Variable and place in it: `PILOTLIGHT_ENDPOINT_GROUPS[0].target_util`. */
  readonly variable: string;
  /** What it got; `a secret` for secrets; undefined when it is missing. */
  readonly got: string | undefined;
  readonly allowed: string;
  readonly message: string | undefined;
  /** Stable id of the rule that it breaks, for endpoint-group parameters. */
  readonly rule?: string;
  /** The file of a NAME_FILE that cannot be read yet, or is empty: it is tried again. */
  readonly awaitedFile?: string;
}

export function configError(
  variable: string,
  got: string | undefined,
  allowed: string,
  message: string,
): ConfigProblem {
  return { severity: 'error', variable, got, allowed, message };
}

export function isError({ severity }: ConfigProblem): boolean {
  return severity === 'error';
}
