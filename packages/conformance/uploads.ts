import assert from 'node:assert/strict'
import * as kinds from './kinds.ts'
import { bodyOf, fetched, type Stage } from './stage.ts'
import type { Case } from './statement.ts'
import { indexedUpload } from './task-records.ts'
import {
  filePart,
  intoRoot,
  namesIn,
  postForm,
  type SentPart,
  storedText,
  updateLink,
  uploadLink,
} from './transfer.ts'

async function upload(stage: Stage, library: string, parts: readonly SentPart[], query = '') {
  const reply = await postForm(await uploadLink(stage.user, library), parts, { query })
  assert.equal(reply.status, 200, reply.text)
  return reply
}

/** Whole uploads and updates of section 4.5. */
export const uploadStatements: Case[] = [
  {
    id: '4.5/upload-link',
    statement:
      '`GET /api2/repos/{repo-id}/upload-link/?p=` returns a JSON string, a URL of the form `{upload_url}/upload-api/<token>`',
    note: 'The link works any number of times for an hour.',
    async run(stage) {
      const library = await stage.library({ '/docs/a.txt': 'a' })
      const reply = await stage.user.get(`/api2/repos/${library}/upload-link/`, { p: '/docs' })
      assert.match(bodyOf(reply), /^http.+\/upload-api\/[^/]+$/)
    },
  },
  {
    id: '4.5/upload',
    statement: '`POST {upload_url}/upload-api/<token>` with a multipart form stores a file',
    async run(stage) {
      const library = await stage.library()
      await upload(stage, library, [intoRoot, filePart('a.txt', 'hello')])
      assert.equal(await storedText(stage.user, library, '/a.txt'), 'hello')
    },
  },
  {
    id: '4.5/upload-file',
    statement: '`file` may be repeated to upload several files at once',
    note: 'They are added in one commit.',
    async run(stage) {
      const library = await stage.library()
      await upload(stage, library, [intoRoot, filePart('a.txt', 'a'), filePart('b.txt', 'b')])
      assert.deepEqual(await namesIn(stage.user, library), ['a.txt', 'b.txt'])
    },
  },
  {
    id: '4.5/upload-parent-dir',
    statement: '`parent_dir` is the folder to upload into',
    async run(stage) {
      const library = await stage.library({ '/docs/a.txt': 'a' })
      const link = await uploadLink(stage.user, library, '/docs')
      bodyOf(await postForm(link, [['parent_dir', '/docs'], filePart('b.txt', 'b')]))
      assert.deepEqual(await namesIn(stage.user, library, '/docs'), ['a.txt', 'b.txt'])
    },
  },
  {
    id: '4.5/upload-replace',
    statement: '`replace` 1 replaces a file of the same name',
    note: 'Never a folder; the reference does.',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'old' })
      await upload(stage, library, [intoRoot, ['replace', '1'], filePart('a.txt', 'new')])
      assert.deepEqual(await namesIn(stage.user, library), ['a.txt'])
      assert.equal(await storedText(stage.user, library, '/a.txt'), 'new')
    },
  },
  {
    id: '4.5/upload-relative-path',
    statement: '`relative_path` is a path below `parent_dir`, whose missing folders are created',
    async run(stage) {
      const library = await stage.library()
      await upload(stage, library, [intoRoot, ['relative_path', 'x/y'], filePart('a.txt', 'a')])
      assert.deepEqual(await namesIn(stage.user, library, '/x/y'), ['a.txt'])
    },
  },
  {
    id: '4.5/upload-ret-json',
    statement: 'With `ret-json=1` an upload returns a JSON array of items',
    async run(stage) {
      const parts = [intoRoot, filePart('a.txt', 'hello'), filePart('b.txt', '')]
      const { body } = await upload(stage, await stage.library(), parts, 'ret-json=1')
      assert.ok(kinds.list.holds(body))
      assert.deepEqual(
        body.map((item: { name: string; size: number }) => [item.name, item.size]),
        [
          ['a.txt', 5],
          ['b.txt', 0],
        ],
      )
    },
  },
  {
    id: '4.5/upload-plain',
    statement: 'Without `ret-json` an upload returns the id of the file as plain text',
    note: 'Several ids are separated by tabs, as in the reference.',
    async run(stage) {
      const library = await stage.library()
      const { text } = await upload(stage, library, [intoRoot, filePart('a.txt', 'hello')])
      const detail = bodyOf(await stage.user.get(`/api2/repos/${library}/file/detail/`, { p: '/a.txt' }))
      assert.equal(text, detail.id)
    },
  },
  {
    id: '4.5/upload-index-progress',
    statement: 'With `need_idx_progress=true` an upload returns the id of a task as text',
    note: 'The reference has disabled this.',
    async run(stage) {
      const { taskId } = await indexedUpload(stage)
      assert.match(taskId, /^[-0-9a-f]{36}$/)
    },
  },
  {
    id: '4.5/index-progress',
    statement: '`GET {upload_url}/idx_progress?task_id=` returns the index progress',
    note: 'Kept for an hour; in the reference until it is read.',
    async run(stage) {
      const { taskId, at } = await indexedUpload(stage)
      const { indexed, total } = bodyOf(await fetched(at, { task_id: taskId }))
      assert.deepEqual([indexed, total], [5, 5])
    },
  },
  {
    id: '4.5/update-link',
    statement:
      '`GET /api2/repos/{repo-id}/update-link/?p=` returns a JSON string, a URL of the form `{upload_url}/update-api/<token>`',
    async run(stage) {
      const library = await stage.library({ '/docs/a.txt': 'a' })
      const reply = await stage.user.get(`/api2/repos/${library}/update-link/`, { p: '/docs' })
      assert.match(bodyOf(reply), /^http.+\/update-api\/[^/]+$/)
    },
  },
  {
    id: '4.5/update',
    statement:
      '`POST {upload_url}/update-api/<token>` with `file` and `target_file` replaces a file and returns its id as a JSON string',
    note: 'The reference sends the id without quotes.',
    async run(stage) {
      const library = await stage.library({ '/docs/a.txt': 'old' })
      const parts: SentPart[] = [filePart('x', 'new'), ['target_file', '/docs/a.txt']]
      const reply = await postForm(await updateLink(stage.user, library), parts)
      assert.match(reply.text, /^"[0-9a-f]{40}"$/)
      const detail = await stage.user.get(`/api2/repos/${library}/file/detail/`, { p: '/docs/a.txt' })
      assert.equal(bodyOf(detail).id, bodyOf(reply))
      assert.equal(await storedText(stage.user, library, '/docs/a.txt'), 'new')
    },
  },
]
