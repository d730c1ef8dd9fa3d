import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { Params } from './client.ts'
import * as kinds from './kinds.ts'
import { bodyOf, type Stage } from './stage.ts'
import type { Case } from './statement.ts'
import { namesIn, postBody, postForm, storedText } from './transfer.ts'

const PIECES = ['first piece, ', 'second piece']
const idOf = (text: string) => createHash('sha1').update(text).digest('hex')
const IDS = PIECES.map(idOf)

interface Links {
  readonly blklist: string[]
  readonly commiturl: string
  readonly rawblksurl: string
}

async function linksFor({ user }: Stage, library: string): Promise<Links> {
  const options = { query: { p: '/' }, form: { blklist: IDS.join(',') } }
  return bodyOf(await user.post(`/api2/repos/${library}/upload-blks-link/`, options))
}

const sendBlocks = ({ rawblksurl }: Links) =>
  postForm(
    rawblksurl,
    PIECES.map((bytes) => ({ filename: idOf(bytes), bytes })),
  )

/** Creates `/a.txt` from the blocks. */
function commit({ commiturl }: Links, more: Params = {}) {
  const fields = {
    parent_dir: '/',
    file_name: 'a.txt',
    file_size: PIECES.join('').length,
    replace: 0,
    blockids: JSON.stringify(IDS),
    ...more,
  }
  const form = new URLSearchParams(
    Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return postBody(commiturl, Buffer.from(String(form)), {
    'Content-Type': 'application/x-www-form-urlencoded',
  })
}

/** Section 4.5 about uploads by blocks. */
export const blockStatements: Case[] = [
  {
    id: '4.5/blocks-link',
    statement:
      '`POST /api2/repos/{repo-id}/upload-blks-link/?p=` with the form `blklist` returns `{blklist, commiturl, rawblksurl}`',
    async run(stage) {
      const links = await linksFor(stage, await stage.library())
      assert.deepEqual(Object.keys(links).toSorted(), ['blklist', 'commiturl', 'rawblksurl'])
    },
  },
  {
    id: '4.5/blocks-wanted',
    statement: '`blklist` of the response has the ids of the blocks to send',
    note: 'Blocks of other libraries count as missing: knowing an id gives no access to the bytes.',
    async run(stage) {
      const library = await stage.library()
      const links = await linksFor(stage, library)
      assert.deepEqual(links.blklist, IDS)
      await sendBlocks(links)
      assert.deepEqual((await linksFor(stage, library)).blklist, [])
    },
  },
  {
    id: '4.5/blocks-url',
    statement: '`rawblksurl` has the form `{upload_url}/upload-raw-blks-api/<token>`',
    async run(stage) {
      const { rawblksurl } = await linksFor(stage, await stage.library())
      assert.match(rawblksurl, /^http.+\/upload-raw-blks-api\/[^/?]+$/)
    },
  },
  {
    id: '4.5/blocks-commit-url',
    statement:
      '`commiturl` has the form `{upload_url}/upload-blks-api/<token>?commitonly=true&ret-json=true`',
    async run(stage) {
      const { commiturl } = await linksFor(stage, await stage.library())
      assert.match(commiturl, /^http.+\/upload-blks-api\/[^/?]+\?commitonly=true&ret-json=true$/)
    },
  },
  {
    id: '4.5/blocks-send',
    statement: '`POST rawblksurl` with blocks in `file` parts, each named by its id, returns 200',
    note: 'A block that does not hash to its id is rejected with 400; in the reference with 500.',
    async run(stage) {
      const links = await linksFor(stage, await stage.library())
      assert.equal((await sendBlocks(links)).status, 200)
      if (!stage.checksNotes) return
      const wrong = await postForm(links.rawblksurl, [{ filename: IDS[0] ?? '', bytes: 'something else' }])
      assert.equal(wrong.status, 400)
    },
  },
  {
    id: '4.5/blocks-commit',
    statement:
      '`POST commiturl` with the form `parent_dir`, `file_name`, `file_size`, `replace`, `blockids` returns `{id}`, the id of the new file',
    async run(stage) {
      const library = await stage.library()
      const links = await linksFor(stage, library)
      await sendBlocks(links)
      const answer = bodyOf(await commit(links))
      assert.deepEqual(Object.keys(answer), ['id'])
      const detail = bodyOf(await stage.user.get(`/api2/repos/${library}/file/detail/`, { p: '/a.txt' }))
      assert.equal(detail.id, answer.id)
      assert.equal(await storedText(stage.user, library, '/a.txt'), PIECES.join(''))
    },
  },
  {
    id: '4.5/blocks-replace',
    statement: '`replace` of the commit is 0 or 1',
    async run(stage) {
      const library = await stage.library()
      const links = await linksFor(stage, library)
      await sendBlocks(links)
      for (const [replace, names] of [
        [0, ['a.txt']],
        [1, ['a.txt']],
        [0, ['a (1).txt', 'a.txt']],
      ] as const) {
        assert.equal((await commit(links, { replace })).status, 200)
        assert.deepEqual(await namesIn(stage.user, library), names)
      }
      if (stage.checksNotes) assert.equal((await commit(links, { replace: 2 })).status, 400)
    },
  },
  {
    id: '4.5/blocks-update-link',
    statement:
      '`GET /api2/repos/{repo-id}/update-blks-link/` returns a JSON string, the URL for updates by blocks',
    async run(stage) {
      const reply = await stage.user.get(`/api2/repos/${await stage.library()}/update-blks-link/`)
      assert.ok(kinds.url.holds(bodyOf(reply)), reply.text)
    },
  },
]
