/**
 * The frame of a page that loads nothing: its policy allows the scripts and styles in it by their hashes, and no address
 * at all.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { plotFile } from '../../../plot-files.ts';

/** The parts that a report is made of: its own style and script, and uPlot's. */
export interface ReportAssets {
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
}

export function reportAssets(): ReportAssets {
  return {
    styles: [plotFile('uPlot.min.css'), beside('plan-report.css')],
    scripts: [plotFile('uPlot.iife.min.js'), beside('plan-report.js')],
  };
}

function beside(name: string): string {
  return readFileSync(new URL(name, import.meta.url), 'utf8');
}

/** Markup that is known to be safe. */
export class Markup {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | number | Markup | readonly Markup[];

/** HTML by template, with everything that is put in escaped: labels, file and column names come from outside. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  return new Markup(parts.reduce((text, part, index) => text + rendered(values[index - 1] ?? '') + part));
}

function rendered(value: Value): string {
  if (value instanceof Markup) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('\n');
  return String(value).replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
}

export interface PageParts {
  readonly title: string;
  readonly header: Markup;
  readonly main: Markup;
  /** What the script draws, as JSON. */
  readonly data: string;
}

export function pageOf({ title, header, main, data }: PageParts, { styles, scripts }: ReportAssets): string {
  const policy = [
    "default-src 'none'",
    `style-src ${styles.map(sourceHash).join(' ')}`,
    `script-src ${scripts.map(sourceHash).join(' ')}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${policy}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${styles.map((style) => new Markup(`<style>${style}</style>`))}
      </head>
      <body>
        <header>${header}</header>
        <main>${main}</main>
        <script type="application/json" id="plan-data">
          ${new Markup(data)}
        </script>
        ${scripts.map((script) => new Markup(`<script>${script}</script>`))}
      </body>
    </html> `.text;
}

/** As a content security policy names an inline script or style. */
function sourceHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

export function plotBox(name: string, caption: string): Markup {
  return html`<figure>
    <figcaption>${caption}</figcaption>
    <div
      class="plot"
      data-plot="${name}"
      role="img"
      aria-label="${caption}; the figures are in the table below"
    ></div>
  </figure>`;
}

/** JSON that no `</script>` in a label can end, with no more digits than a plot shows. */
export function embeddedJson(value: unknown): string {
  const rounded = (_: string, each: unknown) =>
    typeof each === 'number' && !Number.isInteger(each) ? Number(each.toPrecision(6)) : each;
  return JSON.stringify(value, rounded).replaceAll('<', String.raw`\u003c`);
}
