import { build } from 'esbuild';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith } from '../../support/optional.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { WORKFLOW_FILES, workflowText } from '../../support/workflows.ts';

/** What of the package @actions/workflow-parser is used here. */
interface Parser {
  readonly NoOperationTraceWriter: new () => object;
  readonly parseWorkflow: (
    file: { readonly name: string; readonly content: string },
    trace: object,
  ) => { readonly context: { readonly errors: { getErrors(): readonly { readonly message: string }[] } } };
}

const folder = process.env['WORKFLOW_PARSER'];

/** Bundled, for it imports JSON in a way that Node does not take. */
async function loadParser(place: string): Promise<Parser> {
  const outfile = join(place, 'parser.cjs');
  const entryPoints = [join(folder ?? '', 'dist/index.js')];
  await build({ entryPoints, bundle: true, platform: 'node', format: 'cjs', outfile, logLevel: 'error' });
  return createRequire(import.meta.url)(outfile) as Parser;
}

describeWith(
  "GitHub's parser of workflows",
  folder !== undefined,
  'npm install --prefix FOLDER @actions/workflow-parser, and set WORKFLOW_PARSER to FOLDER/node_modules/@actions/workflow-parser',
)("to GitHub's own parser", () => {
  test('each workflow is one, with expressions that it knows', async () => {
    using place = temporaryFolder();
    const { NoOperationTraceWriter, parseWorkflow } = await loadParser(place.path);
    const problems = (content: string): string[] =>
      parseWorkflow({ name: 'x.yml', content }, new NoOperationTraceWriter())
        .context.errors.getErrors()
        .map(({ message }) => message);
    for (const file of WORKFLOW_FILES)
      expect([basename(file), ...problems(workflowText(file))]).toEqual([basename(file)]);

    const release = workflowText('.github/workflows/release.yml');
    expect(problems(release.replace('runs-on:', 'run-on:')).join()).toContain("Unexpected value 'run-on'");
    expect(problems(release.replace('needs.names', 'need.names')).join()).toContain("named-value: 'need'");
  });
});
