import assert from 'node:assert/strict'
import type { Client, Reply } from './client.ts'
import { bodyOf, type Stage } from './stage.ts'
import type { Case } from './statement.ts'
import { batchOf, ended, startTask } from './tasks.ts'
import { namesIn, postForm, type SentPart, updateLink, uploadFile, uploadLink } from './transfer.ts'

/** More than is stored in the database: its bytes go through the block store. */
const STORED_SIZE = 100_000

/** The calls that issue an upload link: their names and paths. */
const linkCalls: Record<string, (library: string) => [path: string, query?: Record<string, string>]> = {
  'upload-link': (library) => [`/api2/repos/${library}/upload-link/`],
  'update-link': (library) => [`/api2/repos/${library}/update-link/`],
  'file-uploaded-bytes': (library) => [
    `/api/v2.1/repos/${library}/file-uploaded-bytes/`,
    { parent_dir: '/', file_name: 'a.bin' },
  ],
}

const linkCases = Object.entries(linkCalls).flatMap(([name, call]): Case[] => [
  {
    id: `7/${name}-403`,
    statement: `\`${name}\` returns 403 when permission is denied`,
    async run(stage) {
      assert.equal((await stage.other.get(...call(await stage.library()))).status, 403)
    },
  },
  {
    id: `7/${name}-500`,
    statement: `\`${name}\` returns 500 when out of quota`,
    note: 'The reference returns 443; a setting selects that.',
    async run(stage) {
      const user = await stage.signUp()
      const library = await user.createLibrary()
      await postForm(await uploadLink(user, library), [
        ['parent_dir', '/'],
        file('a.bin', 2 * stage.smallestQuota),
      ])
      await stage.limitSpace(user)
      assert.equal((await user.get(...call(library))).status, 500)
    },
  },
])

interface Sent {
  /** The name of the file. */
  readonly name?: string
  readonly size?: number
  /** Replaces the correct fields. */
  readonly fields?: readonly SentPart[]
}

/** The ways to send a file: the phrase for a sentence, the link, and the request. */
interface Way {
  readonly called: string
  readonly link: (user: Client, library: string) => Promise<string>
  readonly send: (link: string, sent: Sent) => Promise<Reply>
}

const file = (filename: string, size: number): SentPart => ({ filename, bytes: Buffer.alloc(size, 7) })

const ways = {
  upload: {
    called: 'An upload',
    link: uploadLink,
    send: (link, { name = 'a.bin', size = 10, fields = [['parent_dir', '/']] }) =>
      postForm(link, [...fields, file(name, size)]),
  },
  chunk: {
    called: 'A chunk of an upload',
    link: uploadLink,
    send: (link, { name = 'a.bin', size = 10, fields = [['parent_dir', '/']] }) => {
      const headers = {
        'Content-Range': `bytes 0-9/${size}`,
        'Content-Disposition': `attachment; filename="${encodeURIComponent(name)}"`,
      }
      return postForm(link, [...fields, file(name, 10)], { headers })
    },
  },
  update: {
    called: 'An update',
    link: updateLink,
    send: (link, { size = 10, fields = [['target_file', '/a.bin']] }) =>
      postForm(link, [...fields, file('a.bin', size)]),
  },
} satisfies Record<string, Way>

/** A library with the file that updates replace. */
const withFile = (stage: Stage) => stage.library({ '/a.bin': 'hello' })

const wayCases = Object.entries(ways).flatMap(([word, { called, link, send }]): Case[] => [
  {
    id: `7/${word}-400`,
    statement: `${called} returns 400 for a bad request`,
    async run(stage) {
      const to = await link(stage.user, await withFile(stage))
      assert.equal((await send(to, { fields: [] })).status, 400)
    },
  },
  {
    id: `7/${word}-403`,
    statement: `${called} returns 403 when permission is denied`,
    async run(stage) {
      const to = await link(stage.user, await withFile(stage))
      assert.equal((await send(to.replace(/[^/]+$/, 'unknown'), {})).status, 403)
    },
  },
  {
    id: `7/${word}-442`,
    statement: `${called} returns 442 when the file is too large`,
    async run(stage) {
      const to = await link(stage.user, await withFile(stage))
      assert.equal((await send(to, { size: stage.largestUpload + 1 })).status, 442)
    },
  },
  {
    id: `7/${word}-443`,
    statement: `${called} returns 443 when out of quota`,
    async run(stage) {
      const user = await stage.signUp()
      const to = await link(user, await user.createLibrary())
      await stage.limitSpace(user)
      assert.equal((await send(to, { size: 2 * stage.smallestQuota })).status, 443)
    },
  },
  {
    id: `7/${word}-500`,
    statement: `${called} returns 500 for an error inside the server`,
    note: 'Nothing of the file is left behind.',
    async run(stage) {
      const library = await withFile(stage)
      const to = await link(stage.user, library)
      {
        using _broken = stage.inside.breakStore()
        assert.equal((await send(to, { name: 'b.bin', size: STORED_SIZE })).status, 500)
      }
      assert.deepEqual(await namesIn(stage.user, library), ['a.bin'])
    },
  },
])

/** Section 7. */
export const errorStatements: Case[] = [
  ...linkCases,
  ...wayCases,
  ...(['upload', 'chunk'] as const).map((word): Case => {
    const { called, link, send }: Way = ways[word]
    return {
      id: `7/${word}-440`,
      statement: `${called} returns 440 for an invalid file name`,
      async run(stage) {
        const to = await link(stage.user, await stage.library())
        assert.equal((await send(to, { name: '..' })).status, 440)
      },
    }
  }),
  {
    id: '7/update-440',
    statement: 'An update returns 440 for an invalid file name',
    note: 'The name in `target_file`; that of the part is ignored.',
    async run(stage) {
      const to = await updateLink(stage.user, await withFile(stage))
      const reply = await ways.update.send(to, { fields: [['target_file', '/..']] })
      assert.equal(reply.status, 440)
    },
  },
  {
    id: '7/update-441',
    statement: 'An update returns 441 when the file does not exist',
    async run(stage) {
      const to = await updateLink(stage.user, await stage.library())
      assert.equal((await ways.update.send(to, {})).status, 441)
    },
  },
  {
    id: '7/task-failed',
    statement: 'A background copy or move that failed has `failed` true and a reason in `failed_reason`',
    async run(stage) {
      const user = await stage.signUp()
      const [from, to] = [await user.createLibrary(), await user.createLibrary()]
      await uploadFile(user, from, '/a.bin', Buffer.alloc(0.75 * stage.smallestQuota))
      await stage.limitSpace(user)
      const progress = await ended(user, await startTask(user, 'copy', batchOf(from, ['a.bin'], to)))
      const { failed, failed_reason, successful, canceled } = progress
      assert.deepEqual([failed, successful, canceled], [true, false, false])
      assert.equal(typeof failed_reason, 'string')
      if (stage.checksNotes) assert.equal(failed_reason, 'Quota is full')
      assert.deepEqual(await namesIn(user, to), [])
    },
  },
  {
    id: '7/deprecated-batch',
    statement:
      'A failed item of a deprecated batch call is in `failed` with its `error_msg`, and the call returns its result',
    async run(stage) {
      const library = await withFile(stage)
      const json = {
        src_repo_id: library,
        dst_repo_id: library,
        paths: [{ src_path: '/gone', dst_path: '/' }],
      }
      const { failed, success } = bodyOf(await stage.user.post('/api/v2.1/repos/batch-copy-item/', { json }))
      assert.deepEqual([failed.length, typeof failed[0]?.error_msg, success], [1, 'string', []])
      if (stage.checksNotes) assert.equal(failed[0].error_msg, '/gone/ not found.')
    },
  },
]
