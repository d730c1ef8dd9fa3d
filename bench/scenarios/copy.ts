import { middle } from '../rounds.ts'
import type { Scenario } from '../scenario.ts'
import { contentSha1, expectContent, expectFiles, fileName, fill, randomContent } from '../transfers.ts'

const FILE_BYTES = 16 * 1024
const FILES_A_REQUEST = 100
const ROUNDS = 5
const FOLDER = 'folder'

/** A folder of many files copied to another library, which is rows and no bytes. */
export const copy: Scenario = {
  name: 'copy',
  async run(context) {
    await using workspace = await context.workspace()
    const server = await workspace.serve()
    const { client } = server
    const files = context.size(5000, 200)
    const source = await client.createLibrary('Copied')
    const contents = Array.from({ length: FILES_A_REQUEST }, (_, k) => randomContent(FILE_BYTES, k))
    await fill(server, source, FOLDER, contents, files / FILES_A_REQUEST)
    const rounds = []
    for (let round = 0; round < context.size(ROUNDS, 1); round++) {
      const target = await client.createLibrary(`Copy ${round}`)
      const json = {
        src_repo_id: source,
        src_parent_dir: '/',
        src_dirents: [FOLDER],
        dst_repo_id: target,
        dst_parent_dir: '/',
      }
      const copied = await server.meter(async () => {
        const began = performance.now()
        const { status, text } = await client.post('/api/v2.1/repos/sync-batch-copy-item/', { json })
        if (status !== 200) throw new Error(`nothing was copied: ${status} ${text}`)
        return { ms: performance.now() - began }
      })
      await expectFiles(server, target, files)
      const file = `/${FOLDER}/${fileName(1)}`.replace('{n}', '00000000')
      await expectContent(server, target, file, contentSha1(contents[1] ?? '', 0))
      rounds.push(copied)
    }
    const { ms, usage } = middle(rounds, (one) => one.ms)
    const what = `copy of ${files.toLocaleString('en-US')} × 16 KiB to another library`
    return [{ what, value: ms, unit: 'ms', usage, target: { atMost: 300 } }]
  },
}
