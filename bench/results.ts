import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { plotsOf } from './plots.ts'
import { withRatios } from './readme.ts'
import type { Finding } from './row.ts'
import { markdownTable } from './table.ts'

const JSON_FILE = 'results.json'

/** Published results: the findings of one run, or of several that were made one after another. */
export interface Results {
  readonly runs: readonly Run[]
  readonly findings: readonly Finding[]
}

/** How some of the results were made. */
export interface Run {
  /** ISO date. */
  readonly date: string
  /** Version, machine and settings. */
  readonly about: string
  readonly minutes: number
  /** Each with its database, such as `ping on SQLite`. */
  readonly measured: readonly string[]
  /** Curves that ended before their last size, and scenarios that did not begin in time. */
  readonly notes: readonly string[]
  /** Scenarios that threw, with the reason. */
  readonly failures: readonly string[]
}

/** Reads the results in a folder; undefined if there are none. */
export async function readResults(folder: string): Promise<Results | undefined> {
  const text = await readFile(path.join(folder, JSON_FILE), 'utf8').catch(() => undefined)
  return text === undefined ? undefined : (JSON.parse(text) as Results)
}

/** Earlier results, in which those of a later run replace the ones of the same scenario and database, with the remarks about them. */
export function mergeResults(earlier: Results, later: Results): Results {
  const keyOf = ({ scenario, database }: Finding) => `${scenario} on ${database}`
  const replaced = new Set(later.findings.map(keyOf))
  const measured = new Set(later.runs.flatMap((run) => run.measured))
  const curves = new Set(later.findings.flatMap(({ point }) => (point === undefined ? [] : [point.curve])))
  const kept = earlier.runs
    .map((run) => ({
      ...run,
      measured: run.measured.filter((one) => !measured.has(one)),
      notes: run.notes.filter((note) => !isAbout(note, curves)),
      failures: run.failures.filter((failure) => !isAbout(failure, measured)),
    }))
    .filter((run) => run.measured.length > 0)
  const findings = [...earlier.findings.filter((one) => !replaced.has(keyOf(one))), ...later.findings]
  return { runs: [...kept, ...later.runs], findings }
}

/** Whether a remark is about one of these: it begins with the name and a colon. */
function isAbout(remark: string, names: ReadonlySet<string>): boolean {
  return [...names].some((name) => remark.startsWith(`${name}: `))
}

/** Writes results.json, results.md and plots to a folder, and replaces those of earlier results. */
export async function writeResults(folder: string, results: Results): Promise<void> {
  const files = new Map([...resultFiles(results), [JSON_FILE, jsonText(results)]])
  await mkdir(folder, { recursive: true })
  for (const name of await readdir(folder)) {
    if (name.endsWith('.svg') && !files.has(name)) await rm(path.join(folder, name))
  }
  for (const [name, content] of files) await writeFile(path.join(folder, name), content)
}

/** What is made of results.json, by name: results.md and the plots that it shows. */
export function resultFiles({ findings, runs }: Results): Map<string, string> {
  const plots = plotsOf(findings)
  const pictures = [...plots.keys()].map((name) => `![${name.replace(/\.svg$/, '')}](${name})\n`)
  const text = `# Results\n\n${runs.map(runText).join('\n')}\n${pictures.join('\n')}\n${markdownTable(findings)}`
  return new Map([['results.md', text], ...plots])
}

/** One finding in a line, so that a new measurement changes a line. */
function jsonText({ runs, findings }: Results): string {
  const lines = (values: readonly unknown[]) =>
    values.map((value) => `    ${JSON.stringify(value)}`).join(',\n')
  return `{\n  "runs": [\n${lines(runs)}\n  ],\n  "findings": [\n${lines(findings)}\n  ]\n}\n`
}

function runText({ date, about, minutes, measured, notes, failures }: Run): string {
  const lines = [
    `- ${date.slice(0, 10)}, ${Math.ceil(minutes)} min: ${about}. Measured: ${measured.join(', ')}.`,
    ...notes.map((note) => `  - ${note}.`),
    ...failures.map((failure) => `  - FAILED ${failure}`),
  ]
  return `${lines.join('\n')}\n`
}

/** Replaces the table of ratios in a README. */
export async function writeReadme(file: string, results: Results): Promise<void> {
  await writeFile(file, withRatios(await readFile(file, 'utf8'), results.findings))
}
