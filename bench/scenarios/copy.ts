import { setTimeout as delay } from 'node:timers/promises'
import { at } from '../../test/support/core.ts'
import type { BenchServer } from '../bench-server.ts'
import { median } from '../median.ts'
import { longestPing, whilePinging } from '../pings.ts'
import type { Row } from '../row.ts'
import type { Context, Scenario } from '../scenario.ts'
import { contentSha1, expectContent, expectFiles, fileName, fill, randomContent } from '../transfers.ts'
import type { Usage } from '../usage.ts'

const FILE_BYTES = 16 * 1024
const FILES_PER_REQUEST = 100
const ROUNDS = 5
const FOLDER = 'folder'

/** Copies of folders with many files to another library: rows, no bytes. */
export const copy: Scenario = {
  name: 'copy',
  async run(context) {
    return [await copyUploaded(context), ...(await copyMany(context))]
  },
}

async function copyUploaded(context: Context): Promise<Row> {
  await using workspace = await context.workspace()
  const server = await workspace.serve()
  const { client } = server
  const files = context.size(5000, 200)
  const source = await client.createLibrary('Copied')
  const contents = Array.from({ length: FILES_PER_REQUEST }, (_, k) => randomContent(FILE_BYTES, k))
  await fill(server, source, FOLDER, contents, files / FILES_PER_REQUEST)
  const rounds = []
  for (let round = 0; round < context.size(ROUNDS, 1); round++) {
    const target = await client.createLibrary(`Copy ${round}`)
    const copied = await copyOnce(server, source, target)
    await expectFiles(server, target, files)
    const file = `/${FOLDER}/${fileName(1)}`.replace('{n}', '00000000')
    await expectContent(server, target, file, contentSha1(contents[1] ?? '', 0))
    rounds.push(copied)
  }
  const { ms, usage } = median(rounds, (one) => one.ms)
  const what = `copy of ${files.toLocaleString('en-US')} × 16 KiB to another library`
  return { what, value: ms, unit: 'ms', usage, target: { atMost: 300 } }
}

/** Files of 10 GB in total, each with a block row of its own; a copy never reads the bytes. */
async function copyMany(context: Context): Promise<Row[]> {
  await using workspace = await context.workspace()
  const files = context.size(10_000, 300)
  // A store without a file is refused at the first start only.
  await (await workspace.serve()).stop()
  const source = await workspace.prepare(async (builder) => {
    const made = await builder.newLibrary('Copied')
    await builder.addFiles(made, at(`/${FOLDER}`), files, 'file', { bytes: 1_000_000 })
    await builder.catchUp(made)
    return made.info.id
  })
  const server = await workspace.serve()
  const { client } = server
  const rounds: { ms: number; usage: Usage; longest: number }[] = []
  const tasks: { ms: number; usage: Usage; longest: number }[] = []
  for (let round = 0; round < context.size(3, 1); round++) {
    const target = await client.createLibrary(`Copy ${round}`)
    rounds.push(await whilePinging(server, () => copyOnce(server, source, target)))
    await expectFiles(server, target, files)
    const other = await client.createLibrary(`Task ${round}`)
    tasks.push(await whilePinging(server, () => copyAsTask(server, source, other)))
    await expectFiles(server, other, files)
  }
  const inAll = `${files.toLocaleString('en-US')} files, ${(files / 1000).toLocaleString('en-US')} GB,`
  const asked = median(rounds, (one) => one.ms)
  const task = median(tasks, (one) => one.ms)
  const target = { atMost: 2000 }
  return [
    { what: `copy of ${inAll} to another library`, value: asked.ms, unit: 'ms', usage: asked.usage, target },
    longestPing('that copy', rounds),
    { what: 'the same as a task, until it is done', value: task.ms, unit: 'ms', usage: task.usage, target },
    longestPing('that task', tasks),
  ]
}

function batchOf(source: string, target: string) {
  return {
    src_repo_id: source,
    src_parent_dir: '/',
    src_dirents: [FOLDER],
    dst_repo_id: target,
    dst_parent_dir: '/',
  }
}

function copyOnce(server: BenchServer, source: string, target: string) {
  return server.meter(async () => {
    const json = batchOf(source, target)
    const began = performance.now()
    const { status, text } = await server.client.post('/api/v2.1/repos/sync-batch-copy-item/', { json })
    if (status !== 200) throw new Error(`nothing was copied: ${status} ${text}`)
    return { ms: performance.now() - began }
  })
}

function copyAsTask(server: BenchServer, source: string, target: string) {
  return server.meter(async () => {
    const { client } = server
    const json = batchOf(source, target)
    const began = performance.now()
    const { body } = await client.post('/api/v2.1/repos/async-batch-copy-item/', { json })
    for (;;) {
      const query = { task_id: String(body.task_id) }
      const progress = await client.get('/api/v2.1/query-copy-move-progress/', query)
      if (progress.body.successful) return { ms: performance.now() - began }
      if (progress.status !== 200 || progress.body.failed) throw new Error(`no copy: ${progress.text}`)
      await delay(5)
    }
  })
}
