export interface ApiKeyRecord {
  readonly id: number;
  /** For people; what journal and faults call the key by, since the value is a secret. */
  readonly name: string;
  readonly userId: number;
  /** null: full access. Flags (`{manage_billing: true}`) or the public nesting (`{api: {user_read: {}}}`). */
  readonly permissions: Readonly<Record<string, unknown>> | null;
  /** Used in a team's context rather than the user's own. */
  readonly team: boolean;
}
