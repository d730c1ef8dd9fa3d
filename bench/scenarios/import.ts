import { execFile } from 'node:child_process'
import { hash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, ftruncateSync, mkdirSync, openSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { start } from '../../test/support/command.ts'
import { SeafileServer } from '../../test/support/seafile-layout.ts'
import { ADMIN } from '../../test/support/server.ts'
import { readMemory } from '../memory.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import type { Workspace } from '../workspace.ts'

/** The smallest block that is a file of its own. */
const LINKED_BYTES = 64 * 1024
const FILES_PER_FOLDER = 1000
const COPIED_BLOCK_BYTES = 8 * 1024 * 1024
const POLL_MS = 100
const MINUTES = 10

const run = promisify(execFile)

/**
 * `carrel import seafile`: blocks copied, against unbuffered reads of the same files, and many files by links. The start of the command is a row of
 * its own and is not part of the rates, so that they are those of a long import.
 */
export const importing: Scenario = {
  name: 'import',
  async run(context) {
    // The first one may have to compile the program.
    const starts = [(await linked(context, 1)).seconds, (await linked(context, 1)).seconds]
    const startSeconds = Math.min(...starts)
    const copying = await copied(context, startSeconds)
    const files = context.size(50_000, 2000)
    const { seconds, memory, peakBytes } = await linked(context, files)
    const what = `import of ${files.toLocaleString('en-US')} files by links`
    return [
      { what: 'import of one file', value: startSeconds * 1000, unit: 'ms' },
      copying,
      {
        what,
        value: files / without(startSeconds, seconds),
        unit: 'files/s',
        target: { atLeast: 1_000_000 / (MINUTES * 60) },
      },
      { what: `${what}, memory after a tenth of the time`, value: memory.atTenth / 1e6, unit: 'MB' },
      { what: `${what}, memory after half of the time`, value: memory.atHalf / 1e6, unit: 'MB' },
      { what: `${what}, memory at the end`, value: memory.atEnd / 1e6, unit: 'MB' },
      { what: `${what}, memory peak`, value: peakBytes / 1e6, unit: 'MB' },
      {
        what: `${what}, memory at the end against half of the time`,
        value: memory.atEnd / memory.atHalf,
        unit: 'times',
        target: { atMost: 1.2 },
      },
    ]
  },
}

/** The duration of an import without its start. At least a tenth, because one start can take longer than another. */
function without(startSeconds: number, seconds: number): number {
  return Math.max(seconds - startSeconds, seconds / 10)
}

/** Large blocks. The page cache has none of them when they are read. */
async function copied(context: Context, startSeconds: number): Promise<Row> {
  await using workspace = await context.workspace()
  const source = new SeafileServer(path.join(workspace.folder, 'source'))
  const library = await source.addLibrary({ name: 'Large', owner: ADMIN.email })
  library.blockBytes = COPIED_BLOCK_BYTES
  const blocks = context.size(64, 4)
  const entries = []
  const paths: string[] = []
  for (let at = 0; at < blocks; at += 1) {
    const bytes = randomBytes(COPIED_BLOCK_BYTES)
    const id = await library.writeFile(bytes)
    paths.push(source.fileOf('blocks', 1, library.id, hash('sha1', bytes)))
    entries.push({ name: Buffer.from(`${at}.bin`), mode: 33188, id, size: bytes.length })
  }
  await library.commitRoot(await library.writeDir(entries), 'Added')
  // The first reading of new blocks of a virtual disk can be slower than all later ones.
  await readUnbuffered(paths)
  const limit = (blocks * COPIED_BLOCK_BYTES) / 1e6 / (await readUnbuffered(paths))
  await evict(paths)
  const { seconds } = await importInto(workspace, source, '--copy')
  return {
    what: `import that copies ${blocks} blocks of 8 MiB`,
    value: (blocks * COPIED_BLOCK_BYTES) / 1e6 / without(startSeconds, seconds),
    unit: 'MB/s',
    limit: { value: limit, of: 'unbuffered reads' },
    target: { atLeast: limit / 2 },
  }
}

/** Files of one block each. The blocks are sparse, so that a million of them fit on the disk; the import reads all bytes. */
async function linked(context: Context, files: number): Promise<Imported> {
  await using workspace = await context.workspace()
  const source = new SeafileServer(path.join(workspace.folder, 'source'))
  const library = await source.addLibrary({ name: 'Many', owner: ADMIN.email })
  const block = Buffer.alloc(LINKED_BYTES)
  const made = new Set<string>()
  const folders = []
  for (let first = 0; first < files; first += FILES_PER_FOLDER) {
    const entries = []
    for (let at = first; at < Math.min(files, first + FILES_PER_FOLDER); at += 1) {
      block.writeUInt32BE(at)
      const id = hash('sha1', block)
      writeSparse(source.fileOf('blocks', 1, library.id, id), block.subarray(0, 4), made)
      const file = await library.writeFileObject([id], LINKED_BYTES)
      entries.push({ name: Buffer.from(`${at}.bin`), mode: 33188, id: file, size: LINKED_BYTES })
    }
    const id = await library.writeDir(entries)
    folders.push({ name: Buffer.from(`folder ${first}`), mode: 16384, id, size: undefined })
  }
  await library.commitRoot(await library.writeDir(folders), 'Added')
  const imported = await importInto(workspace, source)
  if (imported.linked !== files) throw new Error(`${imported.linked} of ${files} blocks were linked`)
  return imported
}

function writeSparse(file: string, start: Uint8Array, folders: Set<string>): void {
  const folder = path.dirname(file)
  if (!folders.has(folder)) mkdirSync(folder, { recursive: true })
  folders.add(folder)
  const descriptor = openSync(file, 'w')
  writeSync(descriptor, start)
  ftruncateSync(descriptor, LINKED_BYTES)
  closeSync(descriptor)
}

interface Imported {
  readonly seconds: number
  readonly peakBytes: number
  /** Resident bytes. */
  readonly memory: { readonly atTenth: number; readonly atHalf: number; readonly atEnd: number }
  readonly linked: number
}

/** Duration of the command with its start, and its memory. The source is removed afterwards. */
async function importInto(
  workspace: Workspace,
  source: SeafileServer,
  ...flags: string[]
): Promise<Imported> {
  await workspace.prepare((builder) => builder.issueApiToken())
  await run('sync')
  const began = performance.now()
  const args = ['import', 'seafile', '--data', source.data, '--owner', ADMIN.email, '--json', ...flags]
  const child = start(args, { env: workspace.env })
  let peakBytes = 0
  const samples: { readonly atMs: number; readonly bytes: number }[] = []
  const ended = once(child, 'exit')
  const output = Promise.all([text(child.stdout), text(child.stderr)])
  while (child.exitCode === null && child.signalCode === null) {
    // Neither is known once the process is ending.
    const memory = await readMemory(child.pid ?? 0).catch(() => undefined)
    if (memory !== undefined) {
      peakBytes = Math.max(peakBytes, memory.peak)
      samples.push({ atMs: performance.now() - began, bytes: memory.now })
    }
    await Promise.race([ended, setTimeout(POLL_MS)])
  }
  const durationMs = performance.now() - began
  const [stdout, stderr] = await output
  if (child.exitCode !== 0)
    throw new Error(`the import ended with ${child.exitCode}: ${stderr}${stdout.slice(0, 500)}`)
  const { blocks } = JSON.parse(stdout)
  await rm(source.folder, { recursive: true, force: true })
  const memoryAt = (share: number) =>
    samples.findLast(({ atMs }) => atMs <= share * durationMs)?.bytes ?? peakBytes
  return {
    seconds: durationMs / 1000,
    peakBytes,
    memory: { atTenth: memoryAt(0.1), atHalf: memoryAt(0.5), atEnd: memoryAt(1) },
    linked: blocks.reflinked + blocks.hardLinked,
  }
}

/** Seconds to read files with O_DIRECT, which bypasses the page cache. */
async function readUnbuffered(files: readonly string[]): Promise<number> {
  const began = performance.now()
  for (const file of files)
    await run('dd', [`if=${file}`, 'of=/dev/null', 'bs=8M', 'iflag=direct', 'status=none'])
  return (performance.now() - began) / 1000
}

/** Removes files from the page cache. */
async function evict(files: readonly string[]): Promise<void> {
  await run('sync')
  for (const file of files)
    await run('dd', [`if=${file}`, 'of=/dev/null', 'count=0', 'iflag=nocache', 'status=none'])
}
