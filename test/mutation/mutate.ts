import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { runTestProcess } from '../../bin/test-process.ts'
import type { Safeguard } from './safeguards.ts'

const root = path.join(import.meta.dirname, '../..')
// A test that waits for an event that never comes has noticed, too.
const DEADLINE_MS = 100_000
/** On the unchanged sources a hang is not expected, and the machine may be busy. */
const UNCHANGED_DEADLINE_MS = 900_000
/** All that a test file reads, directly or through a server it starts. */
const COPIED = [
  'src',
  'packages',
  'test',
  'bin',
  'bench',
  'docs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]

/** How the tests took the loss of a safeguard. */
export interface Verdict {
  readonly safeguard: Safeguard
  /** `noticed` is what is demanded. `broken`: the files did not load, which proves nothing. */
  readonly outcome: 'noticed' | 'not noticed' | 'broken'
  /** The first test that failed, or why the process did. */
  readonly by: string
  readonly seconds: number
}

/** The text of a file without the safeguard. Throws if the text to replace does not occur exactly once. */
export function mutated({ file, find, replace, name }: Safeguard, source: string): string {
  const parts = source.split(find)
  if (parts.length !== 2) {
    throw new Error(
      `The safeguard "${name}" occurs ${parts.length - 1} times in ${file}: update test/mutation/safeguards.ts.`,
    )
  }
  return parts.join(replace)
}

/** A copy of the sources with shared packages, in which safeguards are disabled one at a time. */
export class MutationCopy implements Disposable {
  readonly #folder: string

  constructor() {
    this.#folder = mkdtempSync(path.join(os.tmpdir(), 'carrel-mutation-'))
    const skipped = new Set([path.join(root, 'test', 'mutation')])
    for (const name of COPIED) {
      cpSync(path.join(root, name), path.join(this.#folder, name), {
        recursive: true,
        filter: (source) => !skipped.has(source),
      })
    }
    for (const name of ['node_modules', 'web']) {
      symlinkSync(path.join(root, name), path.join(this.#folder, name))
    }
  }

  /** Runs test files on the unchanged sources. Undefined if they pass, otherwise the first failure. */
  async failureOf(
    files: readonly string[],
    signal: AbortSignal,
    deadlineMs = UNCHANGED_DEADLINE_MS,
  ): Promise<string | undefined> {
    const report = await runTestProcess({
      files: files.map((file) => path.join(this.#folder, file)),
      env: { ...process.env, CARREL_TEST_FREEZE_ROWS: '1', CARREL_TEST_POISON: '1' },
      deadlineMs,
      signal,
    })
    const failed = report.results.find(({ ok, error }) => !ok && error !== undefined)
    // A hang fails every test that was still to come, so the one that hangs is named.
    return report.failure ?? failed?.name
  }

  /** Disables one safeguard and runs its tests. They hang if they take longer than `deadlineMs`. */
  async verdictOf(safeguard: Safeguard, signal: AbortSignal, deadlineMs = DEADLINE_MS): Promise<Verdict> {
    const startedAt = performance.now()
    const file = path.join(this.#folder, safeguard.file)
    const source = readFileSync(file, 'utf8')
    writeFileSync(file, mutated(safeguard, source))
    try {
      const failure = await this.failureOf(safeguard.tests, signal, deadlineMs)
      const by = failure?.replace(/^did not end within \S+ s, in: .* > /, 'hangs: ')
      // A file that does not load fails as a suite of its own.
      const isLoadError = by !== undefined && path.isAbsolute(by)
      const outcome = by === undefined ? 'not noticed' : isLoadError ? 'broken' : 'noticed'
      const seconds = (performance.now() - startedAt) / 1000
      return { safeguard, outcome, by: by ?? '', seconds }
    } finally {
      writeFileSync(file, source)
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
