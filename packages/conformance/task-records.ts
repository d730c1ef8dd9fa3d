import assert from 'node:assert/strict'
import { parseOutsideJson } from '../../src/base/json.ts'
import { startArchive, waitForArchive } from './archive-calls.ts'
import { fieldCases } from './fields.ts'
import * as kinds from './kinds.ts'
import { bodyOf, fetched, type Stage } from './stage.ts'
import type { Statement } from './statement.ts'
import { batchOf, ended, startTask } from './tasks.ts'
import { postForm, uploadLink } from './transfer.ts'

/** Uploads `a.txt` with a deferred result; returns the id and the URL to poll. */
export async function indexedUpload(stage: Stage): Promise<{ taskId: string; at: URL }> {
  const link = await uploadLink(stage.user, await stage.library())
  const parts = [['parent_dir', '/'] as const, { filename: 'a.txt', bytes: 'hello' }]
  const reply = await postForm(link, parts, { query: 'need_idx_progress=true' })
  assert.equal(reply.status, 200, reply.text)
  return { taskId: reply.text, at: new URL('../idx_progress', link) }
}

async function indexProgress(stage: Stage) {
  const { taskId, at } = await indexedUpload(stage)
  return bodyOf(await fetched(at, { task_id: taskId }))
}

/** Sections 2.9 to 2.11. */
export const taskRecordStatements: Statement[] = [
  ...fieldCases({
    section: '2.9',
    name: 'a copy progress',
    fields: {
      failed: kinds.here(kinds.flag, false),
      failed_reason: kinds.reason,
      successful: kinds.here(kinds.flag, true),
      canceled: kinds.here(kinds.flag, false),
      done: kinds.here(kinds.integer, 1),
      total: kinds.here(kinds.integer, 1),
    },
    notes: { failed_reason: 'Most releases of the reference omit it.' },
    async sample(stage) {
      const [from, to] = [await stage.library({ '/a.txt': 'hello' }), await stage.library()]
      return {
        ...(await ended(stage.user, await startTask(stage.user, 'copy', batchOf(from, ['a.txt'], to)))),
      }
    },
  }),
  ...fieldCases({
    section: '2.10',
    name: 'an archive progress',
    fields: { zipped: kinds.integer, total: kinds.integer },
    more: {
      fields: ['failed', 'failed_reason', 'canceled'],
      why: 'clients stop polling when an archive cannot be created.',
    },
    async sample(stage) {
      const id = await stage.library({ '/docs/a.txt': 'hello' })
      return waitForArchive(stage.user, await startArchive(stage.user, id, '/', ['docs']))
    },
  }),
  ...fieldCases({
    section: '2.11',
    name: 'an index progress',
    fields: {
      indexed: kinds.integer,
      total: kinds.integer,
      status: kinds.integer,
      ret_json: kinds.filled,
    },
    notes: { status: '0, finished: a file is indexed during the upload.' },
    sample: indexProgress,
  }),
  {
    id: '2.11/ret_json-content',
    statement: '`ret_json` of an index progress contains a JSON array of upload items',
    async run(stage) {
      const [item, ...others] = parseOutsideJson((await indexProgress(stage)).ret_json) as { id: string }[]
      assert.deepEqual([item, others], [{ name: 'a.txt', id: item?.id, size: 5 }, []])
      assert.ok(kinds.objectId.holds(item?.id))
    },
  },
]
