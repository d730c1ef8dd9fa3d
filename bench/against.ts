import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { UsageError } from './options.ts'
import type { DatabaseKind, Finding, Row } from './row.ts'

const run = promisify(execFile)
const root = path.join(import.meta.dirname, '..')

/**
 * Another commit of this repository, in a clone of its own. It is measured by its own bench, because data that is built through the core of one
 * version cannot be opened by an earlier one. Rows are compared by their names.
 */
export class OtherCommit {
  readonly name: string
  readonly #folder: string

  private constructor(name: string, folder: string) {
    this.name = name
    this.#folder = folder
  }

  /** Throws UsageError if there is no such commit. */
  static async checkOut(ref: string, parent: string): Promise<OtherCommit> {
    const git = (...args: string[]) => run('git', args, { cwd: root })
    const { stdout } = await git(
      'rev-parse',
      '--verify',
      '--short',
      '--end-of-options',
      `${ref}^{commit}`,
    ).catch((error) => {
      throw new UsageError(`There is no commit ${ref}.`, { cause: error })
    })
    const name = stdout.trim()
    const folder = path.join(parent, `commit-${name}`)
    await git('clone', '--quiet', '--shared', '--no-checkout', root, folder)
    await run('git', ['checkout', '--quiet', '--detach', name], { cwd: folder })
    return new OtherCommit(name, folder)
  }

  /** The rows of one scenario, measured in a process of its own. The first call installs the packages of the commit. */
  measure(scenario: string, database: DatabaseKind, isQuick: boolean): Promise<Row[]> {
    return measureIn(this.#folder, scenario, database, isQuick)
  }
}

/** The same for the checkout that this code is part of, so that both are measured alike. */
export function measureHere(scenario: string, database: DatabaseKind, isQuick: boolean): Promise<Row[]> {
  return measureIn(root, scenario, database, isQuick)
}

async function measureIn(
  folder: string,
  scenario: string,
  database: DatabaseKind,
  isQuick: boolean,
): Promise<Row[]> {
  const json = path.join(folder, `bench-${process.pid}.json`)
  const options = [
    '--only',
    scenario,
    '--database',
    database,
    '--json',
    json,
    ...(isQuick ? ['--quick'] : []),
  ]
  const child = spawn(process.execPath, ['bin/setup.cjs', 'bench', ...options], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [code] = (await once(child, 'close')) as [number | null]
  try {
    if (code !== 0) throw new Error(`the bench of ${scenario} ended with ${code}`)
    const { findings } = JSON.parse(await readFile(json, 'utf8')) as { findings: Finding[] }
    return findings
  } finally {
    await rm(json, { force: true })
  }
}
