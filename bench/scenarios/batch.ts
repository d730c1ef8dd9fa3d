import { at } from '../../test/support/core.ts'
import type { BenchServer } from '../bench-server.ts'
import { type LibraryBuilder, numbered } from '../library-builder.ts'
import { median } from '../median.ts'
import { longestPing, whilePinging } from '../pings.ts'
import type { Row } from '../row.ts'
import type { Scenario } from '../scenario.ts'

const ROUNDS = 3

/** Many names in one call: copy, move and delete within a library, with the latency of concurrent pings. */
export const batch: Scenario = {
  name: 'batch',
  async run(context) {
    await using workspace = await context.workspace()
    const count = context.size(10_000, 300)
    const rounds = context.size(ROUNDS, 1)
    const library = await workspace.prepare((builder) => makeFolders(builder, count, rounds))
    const server = await workspace.serve()
    const names = Array.from({ length: count }, (_, n) => numbered('file', n))
    const src_dirents = names
    const repos = { src_repo_id: library, dst_repo_id: library }
    const many = `of ${count.toLocaleString('en-US')} names in one call`
    const rows: Row[] = []
    const measure = async (verb: string, call: (n: number) => Promise<{ status: number; text: string }>) => {
      const times = []
      for (let n = 0; n < rounds; n++)
        times.push(await whilePinging(server, () => timed(server, () => call(n))))
      const { ms, usage } = median(times, (one) => one.ms)
      rows.push({ what: `${verb} ${many}`, value: ms, unit: 'ms', usage }, longestPing(`that ${verb}`, times))
    }
    await measure('copy', (n) =>
      server.client.post('/api/v2.1/repos/sync-batch-copy-item/', {
        json: { ...repos, src_dirents, src_parent_dir: from(n), dst_parent_dir: into('copy', n) },
      }),
    )
    await measure('move', (n) =>
      server.client.post('/api/v2.1/repos/sync-batch-move-item/', {
        json: { ...repos, src_dirents, src_parent_dir: from(n), dst_parent_dir: into('move', n) },
      }),
    )
    await measure('delete', (n) =>
      server.client.delete('/api/v2.1/repos/batch-delete-item/', {
        json: { repo_id: library, parent_dir: into('move', n), dirents: names },
      }),
    )
    return rows
  },
}

const from = (n: number) => `/${numbered('folder', n)}`
const into = (verb: string, n: number) => `/${numbered(verb, n)}`

/** Per round, one folder of `count` files and two of one file. */
async function makeFolders(builder: LibraryBuilder, count: number, rounds: number): Promise<string> {
  const made = await builder.newLibrary('Many names')
  for (let n = 0; n < rounds; n++) {
    await builder.addFiles(made, at(from(n)), count, 'file')
    for (const verb of ['copy', 'move']) await builder.addFiles(made, at(into(verb, n)), 1, 'other')
  }
  await builder.catchUp(made)
  return made.info.id
}

function timed(server: BenchServer, call: () => Promise<{ status: number; text: string }>) {
  return server.meter(async () => {
    const began = performance.now()
    const { status, text } = await call()
    if (status !== 200) throw new Error(`the call was answered with ${status} ${text}`)
    return { ms: performance.now() - began }
  })
}
