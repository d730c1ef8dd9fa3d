import assert from 'node:assert/strict'
import type { Reply } from './client.ts'
import { bodyOf, expectAnswer, type Stage } from './stage.ts'
import type { Case } from './statement.ts'
import { postForm, type SentPart, storedText, uploadLink } from './transfer.ts'

/** Sends a chunk of `/a.bin`. */
export function sendChunk(
  link: string,
  bytes: string,
  start: number,
  total: number,
  query = '',
  more: readonly SentPart[] = [],
): Promise<Reply> {
  const headers = {
    'Content-Range': `bytes ${start}-${start + bytes.length - 1}/${total}`,
    'Content-Disposition': 'attachment; filename=a.bin',
  }
  return postForm(link, [['parent_dir', '/'], { filename: 'a.bin', bytes }, ...more], { headers, query })
}

const askUploaded = ({ user }: Stage, library: string) =>
  user.get(`/api/v2.1/repos/${library}/file-uploaded-bytes/`, { parent_dir: '/', file_name: 'a.bin' })

/** The number of stored bytes of `/a.bin`. */
export async function uploadedBytes(stage: Stage, library: string): Promise<number> {
  return bodyOf(await askUploaded(stage, library)).uploadedBytes
}

/** Section 4.5 about resumable uploads. */
export const resumableStatements: Case[] = [
  {
    id: '4.5/uploaded-bytes',
    statement:
      '`GET /api/v2.1/repos/{repo_id}/file-uploaded-bytes/` with `parent_dir` and `file_name` returns `{uploadedBytes}`, an integer',
    note: 'Of the caller’s own upload only; in the reference of anybody’s.',
    run: async (stage) => expectAnswer(await askUploaded(stage, await stage.library()), { uploadedBytes: 0 }),
  },
  {
    id: '4.5/accept-ranges',
    statement:
      'That response has the header `Accept-Ranges: bytes`, which announces that uploads can be resumed',
    note: 'Always; in the reference only if it is enabled.',
    async run(stage) {
      const reply = await askUploaded(stage, await stage.library())
      assert.equal(reply.headers.get('accept-ranges'), 'bytes')
    },
  },
  {
    id: '4.5/uploaded-bytes-none',
    statement: '`uploadedBytes` is 0 when nothing is stored',
    run: async (stage) => assert.equal(await uploadedBytes(stage, await stage.library()), 0),
  },
  {
    id: '4.5/uploaded-bytes-offset',
    statement: 'Otherwise `uploadedBytes` is the offset to continue at',
    async run(stage) {
      const library = await stage.library()
      const link = await uploadLink(stage.user, library)
      await sendChunk(link, '01234', 0, 9)
      const offset = await uploadedBytes(stage, library)
      assert.equal((await sendChunk(link, '5678', offset, 9)).status, 200)
      assert.equal(await storedText(stage.user, library, '/a.bin'), '012345678')
    },
  },
  {
    id: '4.5/chunk',
    statement:
      'A chunk is a normal upload with the headers `Content-Range: bytes <start>-<end>/<total>` and `Content-Disposition: attachment; filename=<name>`',
    note: 'Without the second the name of the part is used.',
    async run(stage) {
      const library = await stage.library()
      const link = await uploadLink(stage.user, library)
      await sendChunk(link, '01', 0, 4, '', [['relative_path', 'docs']])
      await sendChunk(link, '23', 2, 4, '', [['relative_path', 'docs']])
      assert.equal(await storedText(stage.user, library, '/docs/a.bin'), '0123')
    },
  },
  {
    id: '4.5/chunk-one-file',
    statement: 'Only one file may be in a request with a chunk',
    async run(stage) {
      const link = await uploadLink(stage.user, await stage.library())
      const reply = await sendChunk(link, '01', 0, 4, '', [{ filename: 'b.bin', bytes: '01' }])
      assert.equal(reply.status, 400, reply.text)
    },
  },
  {
    id: '4.5/chunk-not-last',
    statement: 'A chunk that is not the last returns 200 and `{success: true}`',
    async run(stage) {
      const link = await uploadLink(stage.user, await stage.library())
      expectAnswer(await sendChunk(link, '01', 0, 4), { success: true })
    },
  },
  {
    id: '4.5/chunk-last',
    statement: 'The last chunk returns the response of a whole upload, also with `ret-json`',
    async run(stage) {
      const link = await uploadLink(stage.user, await stage.library())
      for (const query of ['', 'ret-json=1']) {
        await sendChunk(link, '01', 0, 4, query)
        const { status, text } = await sendChunk(link, '23', 2, 4, query)
        assert.equal(status, 200, text)
        const item = /^\[\{"name": ?"a \(1\)\.bin", ?"id": ?"[0-9a-f]{40}", ?"size": ?4\}\]$/
        assert.match(text, query === '' ? /^[0-9a-f]{40}$/ : item)
      }
    },
  },
]
