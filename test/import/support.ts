import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { carrel, type Outcome, start } from '../support/command.ts'
import type { SourceTree } from '../support/seafile-layout.ts'

/** A folder that is removed at the end of the test. */
export async function temporaryFolder() {
  const created = await mkdtemp(path.join(os.tmpdir(), 'carrel-import-test-'))
  return { path: created, [Symbol.asyncDispose]: () => rm(created, { recursive: true, force: true }) }
}

/** Where to import to. */
interface Target {
  readonly data: string
  readonly databaseUrl?: string | undefined
}

/** Runs `carrel import seafile` into a server. */
export async function importSeafile(to: Target, from: string, ...more: string[]): Promise<Outcome> {
  return carrel(argumentsOf(to, from, more))
}

/** Starts `carrel import seafile` in a process of its own, to be killed. */
export function startImport(to: Target, from: string, ...more: string[]): ChildProcess {
  return start(argumentsOf(to, from, more))
}

function argumentsOf(to: Target, from: string, more: readonly string[]): string[] {
  const database = to.databaseUrl === undefined ? [] : ['--database', to.databaseUrl]
  return ['import', 'seafile', '--data', from, '--to', to.data, ...database, '--json', ...more]
}

/** Bytes, sizes and times of all files below a folder, to show that none changed. */
export async function fingerprint(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name)
    const { mtimeMs, mode, uid } = await stat(file)
    const bytes = entry.isFile()
      ? createHash('sha1')
          .update(await readFile(file))
          .digest('hex')
      : ''
    found.set(path.relative(folder, file), `${mtimeMs} ${mode} ${uid} ${bytes}`)
  }
  return found
}

/** The files of a tree by path; null for folders. */
export function flat(tree: SourceTree, at = ''): Map<string, Buffer | null> {
  const found = new Map<string, Buffer | null>()
  for (const [name, value] of Object.entries(tree)) {
    const file = `${at}/${name}`
    if (typeof value === 'string') found.set(file, Buffer.from(value))
    else if (Buffer.isBuffer(value)) found.set(file, value)
    else {
      found.set(file, null)
      for (const [below, content] of flat(value, file)) found.set(below, content)
    }
  }
  return found
}
