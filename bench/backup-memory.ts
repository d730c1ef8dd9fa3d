import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { setInterval } from 'node:timers'
import { fileDirent } from '../src/base/objects/dirent.ts'
import { environment, sourceProgram } from '../test/support/command.ts'
import { at, openTestCore } from '../test/support/core.ts'
import { readMemory } from './memory.ts'

// Peak memory and time of backup, verify and restore by the number of files: node bench/backup-memory.ts 20000 200000

const FILES_PER_COMMIT = 2000

async function* one(bytes: Buffer): AsyncGenerator<Buffer, void> {
  yield bytes
}

async function fill(folder: string, files: number): Promise<void> {
  await using stage = await openTestCore({ folder })
  const library = await stage.newLibrary(await stage.actor())
  for (let start = 0; start < files; start += FILES_PER_COMMIT) {
    const dir = at(`/${start}`)
    await library.commit(async (tree) => {
      await tree.makeDirs(dir)
      const contents = []
      for (let n = start; n < start + FILES_PER_COMMIT; n++) {
        const content = await stage.core.incoming.receive(
          one(createHash('sha512').update(`file ${n}`).digest()),
        )
        contents.push(content)
        await tree.put(
          dir,
          fileDirent({ id: content.id, name: `${n}`, size: content.size, mtime: 1, modifier: '' }),
        )
      }
      return { description: 'Added', result: 0, contents }
    })
  }
}

async function measure(args: readonly string[]): Promise<{ seconds: number; peakMb: number }> {
  const began = performance.now()
  const child = spawn(process.execPath, [...sourceProgram, ...args], {
    stdio: ['ignore', 'ignore', 'inherit'],
    // As the launcher starts it: the number of arenas of malloc decides much of the peak.
    env: { ...environment, ...process.env },
  })
  let peak = 0
  const look = async () => {
    peak = Math.max(
      peak,
      await readMemory(child.pid ?? 0).then(
        (memory) => memory.peak,
        () => 0,
      ),
    )
  }
  const timer = setInterval(() => void look(), 50)
  const [code] = (await once(child, 'exit')) as [number]
  clearInterval(timer)
  if (code !== 0) throw new Error(`carrel ${args.join(' ')} ended with ${code}.`)
  return { seconds: Math.round((performance.now() - began) / 100) / 10, peakMb: Math.round(peak / 1e6) }
}

for (const files of process.argv.slice(2).map(Number)) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-backup-memory-'))
  const [data, target, restored] = ['data', 'target', 'restored'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ]
  await fill(data, files)
  const rows = {
    'first backup': await measure(['backup', target, '--data', data]),
    'backup without changes': await measure(['backup', target, '--data', data]),
    verify: await measure(['backup', 'verify', target, '--data', data]),
    restore: await measure(['restore', target, '--data', restored]),
  }
  console.table(
    Object.fromEntries(Object.entries(rows).map(([name, row]) => [`${files} files: ${name}`, row])),
  )
  await rm(folder, { recursive: true })
}
