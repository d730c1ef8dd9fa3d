import assert from 'node:assert/strict'
import type { Params } from './client.ts'
import { fieldCases } from './fields.ts'
import * as kinds from './kinds.ts'
import { bodyOf, type Stage } from './stage.ts'
import type { Case } from './statement.ts'
import { uploadFile } from './transfer.ts'

interface Result {
  readonly name: string
  readonly fullpath: string
  readonly repo_id: string
}

interface Answer {
  readonly has_more: boolean
  readonly total: number
  readonly results: readonly (Result & Record<string, unknown>)[]
}

async function search({ user }: Stage, query: Params): Promise<Answer> {
  return bodyOf(await user.get('/api2/search/', query))
}

/** The paths found in a library once it is indexed, sorted; `expected` are all of them. */
async function expectFound(stage: Stage, library: string, query: Params, expected: readonly string[]) {
  await stage.eventually(async () => {
    const { results } = await search(stage, { search_repo: library, per_page: 100, ...query })
    assert.deepEqual(results.map(({ fullpath }) => fullpath).toSorted(), expected.toSorted())
  })
}

/** The only result of a library. */
async function onlyResult(stage: Stage, library: string, query: Params): Promise<Record<string, unknown>> {
  let found: Record<string, unknown> | undefined
  await stage.eventually(async () => {
    const { results } = await search(stage, query)
    const own = results.filter(({ repo_id }) => repo_id === library)
    assert.equal(own.length, 1)
    found = own[0]
  })
  return found ?? {}
}

const highlighted = {
  words: 'a string, matches in `<b>` tags',
  holds: (value: unknown) => value === 'about <b>xylophones</b> and drums',
}

const categories = {
  TEXT: `ac am bat c cc cmake cpp cs css diff el h html htm java js json less make org php pl properties py rb scala script sh
    sql txt text tex vi vim xhtml xml log csv groovy rst patch go`,
  DOCUMENT: 'doc docx ppt pptx odt fodt odp fodp',
  IMAGE: 'gif jpeg jpg png ico bmp tif tiff eps',
  VIDEO: 'mp4 ogv webm mov',
  AUDIO: 'mp3 oga ogg',
  PDF: 'pdf',
  MARKDOWN: 'markdown md',
}

/** A library with a file of every extension of a category, and one more; created once. */
const libraries = new WeakMap<Stage, Promise<string>>()
function libraryOfKinds(stage: Stage): Promise<string> {
  const made = libraries.get(stage) ?? makeLibraryOfKinds(stage)
  libraries.set(stage, made)
  return made
}

async function makeLibraryOfKinds(stage: Stage): Promise<string> {
  const library = await stage.library()
  const names = Object.values(categories).flatMap((endings) => endings.split(/\s+/))
  for (const ending of [...names, 'unheard']) {
    const reply = await stage.user.post(`/api/v2.1/repos/${library}/file/`, {
      query: { p: `/kind.${ending}` },
      form: { operation: 'create' },
    })
    assert.equal(reply.status, 200, reply.text)
  }
  return library
}

/** Section 2.15. */
export const searchRecordStatements: Case[] = [
  ...fieldCases({
    section: '2.15',
    name: 'a search result',
    fields: {
      repo_id: kinds.libraryId,
      repo_name: kinds.here(kinds.text, 'Plans'),
      name: kinds.here(kinds.text, 'music.txt'),
      fullpath: kinds.here({ ...kinds.text, words: 'a path' }, '/docs/music.txt'),
      is_dir: kinds.flag,
      size: kinds.here(kinds.bytes, 27),
      last_modified: kinds.unixTime,
      content_highlight: highlighted,
      oid: kinds.objectId,
      repo_encrypted: kinds.flag,
      permission: kinds.here(kinds.text, 'rw'),
      repo_type: { words: '`mine` or `shared`', holds: (value) => value === 'mine' },
      repo_owner_name: kinds.text,
      repo_owner_email: kinds.account,
      repo_owner_contact_email: kinds.text,
    },
    notes: {
      repo_type: 'Also `group` and `public`; empty if one library was searched.',
      permission: 'With `with_permission` only.',
    },
    more: { fields: ['thumbnail_url'], why: 'as in the reference; empty unless it is an image.' },
    async sample(stage) {
      const library = await stage.library({ '/docs/music.txt': 'about xylophones and drums\n' })
      return onlyResult(stage, library, { q: 'xylophones', with_permission: 'true' })
    },
  }),
  ...Object.entries(categories).map(
    ([category, endings]): Case => ({
      id: `2.15/${category}`,
      statement: `The category ${category} stands for the extensions listed with it`,
      async run(stage) {
        const library = await libraryOfKinds(stage)
        const paths = endings.split(/\s+/).map((ending) => `/kind.${ending}`)
        await expectFound(stage, library, { q: 'kind', search_ftypes: 'custom', ftype: category }, paths)
      },
    }),
  ),
]

const files = { '/docs/red apple.txt': 'sweet', '/green apple.md': 'sour', '/pear.pdf': 'apple' }

/** Section 4.6. */
export const searchStatements: Case[] = [
  {
    id: '4.6/search',
    statement: '`GET /api2/search/` returns `{has_more, total, results}`',
    async run(stage) {
      const answer = await search(stage, { q: 'nothing is called this' })
      assert.deepEqual(answer, { total: 0, has_more: false, results: [] })
    },
  },
  {
    id: '4.6/q',
    statement: '`q` is the text to search for',
    note: 'Matches any part of a name and the words of texts; `"…"` is a phrase, `-word` excludes a word.',
    async run(stage) {
      const library = await stage.library(files)
      await expectFound(stage, library, { q: 'APPLE' }, ['/docs/red apple.txt', '/green apple.md'])
      await expectFound(stage, library, { q: 'sweet' }, ['/docs/red apple.txt'])
      if (stage.checksNotes) await expectFound(stage, library, { q: 'apple -red' }, ['/green apple.md'])
    },
  },
  {
    id: '4.6/search_repo',
    statement: '`search_repo` is `all` or the id of a library',
    note: 'Also `mine`, `shared`, `group`, `public`, as in the reference.',
    async run(stage) {
      const [one, two] = [await stage.library({ '/quince': 'a' }), await stage.library({ '/quince': 'b' })]
      await expectFound(stage, one, { q: 'quince' }, ['/quince'])
      await stage.eventually(async () => {
        const { results } = await search(stage, { q: 'quince', search_repo: 'all', per_page: 100 })
        const found = new Set(results.map(({ repo_id }) => repo_id))
        assert.ok(found.has(one) && found.has(two), 'not both libraries are searched')
      })
    },
  },
  {
    id: '4.6/search_path',
    statement: '`search_path` restricts the search to a folder of that library',
    async run(stage) {
      const library = await stage.library(files)
      await expectFound(stage, library, { q: 'apple', search_path: '/docs' }, ['/docs/red apple.txt'])
    },
  },
  {
    id: '4.6/search_ftypes',
    statement: '`search_ftypes=custom` goes with `ftype` and `input_fexts`',
    note: 'Without it they are ignored.',
    async run(stage) {
      const library = await stage.library(files)
      const query = { q: 'apple', ftype: 'TEXT', input_fexts: 'md' }
      await expectFound(stage, library, query, ['/docs/red apple.txt', '/green apple.md'])
      await expectFound(stage, library, { ...query, search_ftypes: 'custom' }, [
        '/docs/red apple.txt',
        '/green apple.md',
      ])
      await expectFound(stage, library, { ...query, input_fexts: '', search_ftypes: 'custom' }, [
        '/docs/red apple.txt',
      ])
    },
  },
  {
    id: '4.6/ftype',
    statement: '`ftype` is a category of files',
    note: 'Case-insensitive and repeatable.',
    async run(stage) {
      const library = await stage.library(files)
      const query = { q: 'e', search_ftypes: 'custom', ftype: ['Markdown', 'pdf'] }
      await expectFound(stage, library, query, ['/green apple.md', '/pear.pdf'])
    },
  },
  {
    id: '4.6/input_fexts',
    statement: '`input_fexts` is a comma-separated list of extensions',
    async run(stage) {
      const library = await stage.library(files)
      const query = { q: 'e', search_ftypes: 'custom', input_fexts: 'pdf, txt' }
      await expectFound(stage, library, query, ['/docs/red apple.txt', '/pear.pdf'])
    },
  },
  {
    id: '4.6/paging',
    statement: '`per_page` and `page` page through the results',
    note: '10 a page by default, 100 at most.',
    async run(stage) {
      const library = await stage.library(files)
      await expectFound(stage, library, { q: 'apple' }, ['/docs/red apple.txt', '/green apple.md'])
      const page = async (n: number) =>
        search(stage, { q: 'apple', search_repo: library, per_page: 1, page: n })
      const [first, second] = [await page(1), await page(2)]
      assert.deepEqual([first.total, first.has_more, second.total, second.has_more], [2, true, 2, false])
      assert.notEqual(first.results[0]?.fullpath, second.results[0]?.fullpath)
    },
  },
  {
    id: '4.6/with_permission',
    statement: '`with_permission` adds the permission to results',
    async run(stage) {
      const library = await stage.library({ '/plum': 'a' })
      await expectFound(stage, library, { q: 'plum' }, ['/plum'])
      const query = { q: 'plum', search_repo: library }
      assert.equal(
        (await search(stage, { ...query, with_permission: 'true' })).results[0]?.['permission'],
        'rw',
      )
      assert.equal('permission' in ((await search(stage, query)).results[0] ?? {}), false)
    },
  },
  {
    id: '4.6/time',
    statement: '`time_from` and `time_to` bound the time of the last change, in Unix seconds',
    async run(stage) {
      const library = await stage.library()
      for (const [name, lastModify] of [
        ['early', '2020-01-01T00:00:00Z'],
        ['late', '2024-01-01T00:00:00Z'],
      ]) {
        await uploadFile(stage.user, library, `/${name} fig`, 'a', { lastModify: lastModify ?? '' })
      }
      await expectFound(stage, library, { q: 'fig', time_from: 1_704_067_200 }, ['/late fig'])
      await expectFound(stage, library, { q: 'fig', time_to: 1_704_067_199 }, ['/early fig'])
      await expectFound(stage, library, { q: 'fig', time_from: 1, time_to: 1_704_067_200 }, [
        '/early fig',
        '/late fig',
      ])
    },
  },
  {
    id: '4.6/size',
    statement: '`size_from` and `size_to` bound the size, in bytes',
    async run(stage) {
      const library = await stage.library({ '/small lime': '12345', '/big lime': '1234567890' })
      await expectFound(stage, library, { q: 'lime', size_from: 6 }, ['/big lime'])
      await expectFound(stage, library, { q: 'lime', size_to: 5 }, ['/small lime'])
      await expectFound(stage, library, { q: 'lime', size_from: 5, size_to: 10 }, [
        '/big lime',
        '/small lime',
      ])
    },
  },
]
