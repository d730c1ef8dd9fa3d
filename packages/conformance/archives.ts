import assert from 'node:assert/strict'
import { zipFiles } from '../client/index.ts'
import { fetchArchive, startArchive, waitForArchive } from './archive-calls.ts'
import * as kinds from './kinds.ts'
import { bodyOf, type Stage } from './stage.ts'
import type { Case } from './statement.ts'

const content = (stage: Stage) => stage.library({ '/docs/a.txt': 'a', '/docs/b/c.txt': 'c', '/d.txt': 'd' })

/** The names in an archive. */
async function namesInArchive(stage: Stage, library: string, dirents: readonly string[]): Promise<string[]> {
  const token = await startArchive(stage.user, library, '/', dirents)
  await waitForArchive(stage.user, token)
  const response = await fetchArchive(stage, library, token)
  assert.equal(response.status, 200)
  return [...(await zipFiles(Buffer.from(await response.arrayBuffer()))).keys()].sort()
}

/** The endpoints of section 4.4. */
export const archiveStatements: Case[] = [
  {
    id: '4.4/task',
    statement:
      '`POST /api/v2.1/repos/{repo-id}/zip-task/` with the form `parent_dir`, `dirents` returns `{zip_token}`',
    note: 'A single file is also accepted; the reference requires a folder.',
    async run(stage) {
      const form = { parent_dir: '/', dirents: 'docs' }
      const reply = await stage.user.post(`/api/v2.1/repos/${await content(stage)}/zip-task/`, { form })
      assert.deepEqual(Object.keys(bodyOf(reply)), ['zip_token'])
      assert.ok(kinds.filled.holds(reply.body.zip_token))
    },
  },
  {
    id: '4.4/task-one',
    statement: '`dirents` once archives one entry',
    async run(stage) {
      const names = await namesInArchive(stage, await content(stage), ['docs'])
      assert.deepEqual(names, ['docs/a.txt', 'docs/b/c.txt'])
    },
  },
  {
    id: '4.4/task-several',
    statement: '`dirents` repeated archives several',
    note: 'A name that does not exist is rejected with 404; in the reference the task fails.',
    async run(stage) {
      const names = await namesInArchive(stage, await content(stage), ['docs', 'd.txt'])
      assert.deepEqual(names, ['d.txt', 'docs/a.txt', 'docs/b/c.txt'])
    },
  },
  {
    id: '4.4/progress',
    statement: '`GET /api/v2.1/query-zip-progress/` with `token` returns `{zipped, total}`',
    async run(stage) {
      const token = await startArchive(stage.user, await content(stage), '/', ['docs'])
      await waitForArchive(stage.user, token)
      const { zipped, total } = bodyOf(await stage.user.get('/api/v2.1/query-zip-progress/', { token }))
      assert.deepEqual([zipped, total], [2, 2])
    },
  },
  {
    id: '4.4/archive',
    statement: '`GET {file_server_root}/zip/<zip_token>` returns the archive once `zipped` equals `total`',
    note: 'With its length, ranges and HEAD.',
    async run(stage) {
      const library = await content(stage)
      const token = await startArchive(stage.user, library, '/', ['docs'])
      await waitForArchive(stage.user, token)
      const response = await fetchArchive(stage, library, token)
      assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/zip'])
      const files = await zipFiles(Buffer.from(await response.arrayBuffer()))
      assert.equal(String(await files.get('docs/b/c.txt')?.()), 'c')
    },
  },
]
