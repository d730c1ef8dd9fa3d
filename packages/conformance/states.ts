import assert from 'node:assert/strict'
import { zipFiles } from '../client/index.ts'
import { fetchArchive, progressOf, startArchive, waitForArchive } from './archive-calls.ts'
import * as kinds from './kinds.ts'
import { sendChunk, uploadedBytes } from './resumable.ts'
import { bodyOf, expectAnswer, type Stage } from './stage.ts'
import type { Case } from './statement.ts'
import { batchOf, ended, startTask } from './tasks.ts'
import { namesIn, postForm, uploadLink } from './transfer.ts'

/** Whether the folder shows its only file as locked. */
async function isLocked({ user }: Stage, library: string): Promise<boolean> {
  const [entry] = bodyOf(await user.get(`/api2/repos/${library}/dir/`, { p: '/' }))
  return entry.is_locked
}

async function turnLock({ user }: Stage, library: string, operation: 'lock' | 'unlock'): Promise<void> {
  const form = { operation, p: '/a.txt' }
  expectAnswer(await user.put(`/api2/repos/${library}/file/`, { form }), 'success')
}

const archived = (stage: Stage) => stage.library({ '/docs/a.txt': 'a', '/docs/b.txt': 'b' })

/** Section 3 about states and transitions. */
export const stateStatements: Case[] = [
  ...(['copy', 'move'] as const).map(
    (operation): Case => ({
      id: `3/${operation}-successful`,
      statement:
        `A ${operation} that succeeded has \`successful\` true, \`failed\` and \`canceled\` false, ` +
        '`done` equal to `total`',
      note: 'Exactly one flag is true at the end. It can be read for an hour; in the reference once.',
      async run(stage) {
        const [from, to] = [await archived(stage), await stage.library()]
        const task = await startTask(stage.user, operation, batchOf(from, ['docs'], to))
        const { successful, failed, canceled, done, total } = await ended(stage.user, task)
        assert.deepEqual([successful, failed, canceled, done, total], [true, false, false, 2, 2])
        assert.deepEqual(await namesIn(stage.user, to, '/docs'), ['a.txt', 'b.txt'])
        assert.deepEqual(await namesIn(stage.user, from), operation === 'copy' ? ['docs/'] : [])
      },
    }),
  ),
  {
    id: '3/archive-created',
    statement: 'A request for an archive starts it and returns its token',
    async run(stage) {
      const library = await archived(stage)
      using _held = stage.inside.holdContent()
      const token = await startArchive(stage.user, library, '/', ['docs'])
      assert.ok(kinds.filled.holds(token))
      assert.notEqual((await fetchArchive(stage, library, token)).status, 200)
    },
  },
  {
    id: '3/archive-running',
    statement: 'An archive is in progress while `zipped` is below `total`, and both are returned',
    note: '`0` of `1` until the files are counted, so that it does not look finished.',
    async run(stage) {
      const library = await archived(stage)
      using _held = stage.inside.holdContent()
      const token = await startArchive(stage.user, library, '/', ['docs'])
      const { zipped, total } = await progressOf(stage.user, token)
      assert.ok(zipped < total, `${zipped} of ${total}`)
    },
  },
  {
    id: '3/archive-finished',
    statement:
      'An archive is finished when `zipped` equals `total`, and can then be downloaded at `zip/<zip_token>`',
    note: 'Any number of times while the token is valid, with ranges; in the reference once.',
    async run(stage) {
      const library = await archived(stage)
      const token = await startArchive(stage.user, library, '/', ['docs'])
      const { zipped, total } = await waitForArchive(stage.user, token)
      assert.deepEqual([zipped, total], [2, 2])
      const response = await fetchArchive(stage, library, token)
      assert.equal(response.status, 200)
      const files = await zipFiles(Buffer.from(await response.arrayBuffer()))
      assert.equal(String(await files.get('docs/a.txt')?.()), 'a')
    },
  },
  {
    id: '3/locked',
    statement: 'An unlocked file is locked by `operation=lock`, which returns 200 and `success`',
    note: 'Enforced for every kind of write; expires after 12 hours.',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      assert.equal(await isLocked(stage, library), false)
      await turnLock(stage, library, 'lock')
      assert.equal(await isLocked(stage, library), true)
    },
  },
  {
    id: '3/unlocked',
    statement: 'A locked file is unlocked by `operation=unlock`, which returns 200 and `success`',
    async run(stage) {
      const library = await stage.library({ '/a.txt': 'hello' })
      await turnLock(stage, library, 'lock')
      await turnLock(stage, library, 'unlock')
      assert.equal(await isLocked(stage, library), false)
    },
  },
  {
    id: '3/upload-resumed',
    statement: '`uploadedBytes` is the number of stored bytes of a resumable upload',
    async run(stage) {
      const library = await stage.library()
      const link = await uploadLink(stage.user, library)
      assert.equal(await uploadedBytes(stage, library), 0)
      await sendChunk(link, '01234', 0, 9)
      assert.equal(await uploadedBytes(stage, library), 5)
    },
  },
  {
    id: '3/upload-open',
    statement: 'A chunk that is not the last keeps the upload open and returns `{success: true}`',
    async run(stage) {
      const library = await stage.library()
      const link = await uploadLink(stage.user, library)
      for (const start of [0, 3]) expectAnswer(await sendChunk(link, '012', start, 9), { success: true })
      assert.deepEqual(await namesIn(stage.user, library), [])
    },
  },
  {
    id: '3/upload-complete',
    statement: 'The last chunk completes the file and returns the response of a whole upload',
    async run(stage) {
      const library = await stage.library()
      const link = await uploadLink(stage.user, library)
      await sendChunk(link, '01234', 0, 9)
      const last = await sendChunk(link, '5678', 5, 9)
      const parts = [['parent_dir', '/'] as const, { filename: 'whole.bin', bytes: '012345678' }]
      const whole = await postForm(link, parts)
      assert.deepEqual([last.status, last.text], [200, whole.text])
      assert.deepEqual(await namesIn(stage.user, library), ['a.bin', 'whole.bin'])
    },
  },
]
