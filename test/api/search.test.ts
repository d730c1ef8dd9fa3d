import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client, Params } from '../support/client.ts'
import { startServer, type TestServer } from '../support/server.ts'
import {
  eventually,
  filePart,
  formBytes,
  intoRoot,
  postBody,
  uploadFile,
  uploadLink,
} from '../support/transfer.ts'

let server: TestServer
let user: Client
let other: Client
let library: string
let second: string
let foreign: string

const NAMELESS = '00000000-0000-4000-8000-000000000000'

before(async () => {
  server = await startServer()
  ;[user, other] = [await server.signUp(), await server.signUp()]
  library = await user.createLibrary('Plans')
  second = await user.createLibrary('Pictures')
  foreign = await other.createLibrary('Secret plans')
  await uploadFile(user, library, '/2025/budget.md', 'the budget for <script>alert("1")</script> & more', {
    lastModify: '2025-07-31T22:13:20+00:00',
  })
  await uploadFile(user, library, '/2025/draft/Ausflug nach Zürich.txt', 'a trip to the lake')
  await uploadFile(user, library, '/old budget.pdf', 'x'.repeat(500))
  await uploadFile(user, second, '/budget.png', 'picture')
  await uploadFile(other, foreign, '/budget secret.md', 'the hidden budget')
  await eventually(async () => {
    assert.equal((await user.get('/api2/search/', { q: 'lake' })).body.total, 1)
    assert.equal((await user.get('/api2/search/', { q: 'more' })).body.total, 1)
    assert.equal((await user.get('/api2/search/', { q: 'budget' })).body.total, 3)
    assert.equal((await other.get('/api2/search/', { q: 'hidden' })).body.total, 1)
  })
})
after(() => server[Symbol.asyncDispose]())

async function paths(query: Params, client = user): Promise<string[]> {
  const reply = await client.get('/api2/search/', query)
  assert.equal(reply.status, 200, reply.text)
  return reply.body.results.map((result: { fullpath: string }) => result.fullpath)
}

async function refusal(query: Params, path = '/api2/search/'): Promise<[number, unknown]> {
  const reply = await user.get(path, query)
  return [reply.status, reply.body]
}

describe('GET /api2/search/', () => {
  it('returns results in the format that clients expect', async () => {
    const { body } = await user.get('/api2/search/', { q: 'budget for', with_permission: 'True' })
    assert.deepEqual(body, {
      total: 1,
      has_more: false,
      results: [
        {
          repo_id: library,
          repo_name: 'Plans',
          name: 'budget.md',
          fullpath: '/2025/budget.md',
          oid: body.results[0].oid,
          is_dir: false,
          size: 49,
          last_modified: 1_754_000_000,
          content_highlight:
            'the <b>budget</b> <b>for</b> &lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; more',
          repo_encrypted: false,
          repo_type: 'mine',
          repo_owner_email: user.email,
          repo_owner_name: user.email.replace(/@.*/, ''),
          repo_owner_contact_email: user.email,
          permission: 'rw',
          thumbnail_url: '',
        },
      ],
    })
    assert.match(body.results[0]?.oid ?? '', /^[0-9a-f]{40}$/)
  })

  it('returns folders with their current id and time', async () => {
    const { body } = await user.get('/api2/search/', { q: '2025' })
    const [folder] = body.results
    const listing = (await user.get(`/api2/repos/${library}/dir/`, { p: '/' })).body
    const entry = listing.find((one: { name: string }) => one.name === '2025')
    assert.deepEqual(
      [
        folder.is_dir,
        folder.size,
        folder.fullpath,
        folder.oid,
        folder.last_modified,
        folder.content_highlight,
      ],
      [true, 0, '/2025', entry?.id, entry.mtime, ''],
    )
    assert.equal('permission' in folder, false)
  })

  it('returns a thumbnail for images', async () => {
    const { body } = await user.get('/api2/search/', { q: 'budget.png' })
    assert.equal(
      body.results[0].thumbnail_url,
      `${server.url}/api2/repos/${second}/thumbnail/?p=/budget.png&size=72`,
    )
  })

  it('also works without the trailing slash', async () => {
    assert.equal((await user.get('/api2/search', { q: 'lake' })).body.total, 1)
  })

  it('searches one library, or one of its folders', async () => {
    assert.deepEqual(await paths({ q: 'budget', search_repo: library }), [
      '/2025/budget.md',
      '/old budget.pdf',
    ])
    assert.deepEqual(await paths({ q: 'budget', search_repo: library.toUpperCase() }), [
      '/2025/budget.md',
      '/old budget.pdf',
    ])
    assert.deepEqual(await paths({ q: 'budget', search_repo: library, search_path: '/2025/' }), [
      '/2025/budget.md',
    ])
    assert.deepEqual(await paths({ q: 'draft', search_repo: library, search_path: '/2025/draft' }), [])
    const { body } = await user.get('/api2/search/', { q: 'lake', search_repo: library })
    assert.equal(body.results[0].repo_type, '')
  })

  it('filters by kind, type, time and size', async () => {
    assert.deepEqual(await paths({ q: '2025', obj_type: 'DIR' }), ['/2025'])
    assert.deepEqual(await paths({ q: '2025', obj_type: 'file' }), [])
    const custom = { q: 'budget', search_ftypes: 'custom' }
    assert.deepEqual(await paths({ ...custom, ftype: 'PDF' }), ['/old budget.pdf'])
    assert.deepEqual((await paths({ ...custom, ftype: ['pdf', 'Image'] })).toSorted(), [
      '/budget.png',
      '/old budget.pdf',
    ])
    assert.deepEqual((await paths({ ...custom, ftype: 'PDF', input_fexts: ' .MD , nothing' })).toSorted(), [
      '/2025/budget.md',
      '/old budget.pdf',
    ])
    assert.equal((await paths({ ...custom, ftype: 'Unheard of' })).length, 3)
    assert.equal((await paths({ q: 'budget', ftype: 'PDF' })).length, 3)
    assert.deepEqual(await paths({ q: '2025', search_ftypes: 'custom', ftype: 'Text' }), [])
    assert.deepEqual(await paths({ q: 'budget', time_to: 1_754_000_000 }), ['/2025/budget.md'])
    assert.deepEqual(await paths({ q: 'budget', time_from: 1_754_000_000, time_to: 1_754_000_000 }), [
      '/2025/budget.md',
    ])
    assert.equal((await paths({ q: 'budget', time_from: 1_754_000_001 })).length, 2)
    assert.deepEqual(await paths({ q: 'budget', size_from: 500, size_to: 500 }), ['/old budget.pdf'])
    assert.deepEqual(await paths({ q: 'budget', size_from: 501, size_to: 5 }), [])
    assert.deepEqual(await paths({ q: 'lake', search_filename_only: 'true' }), [])
    assert.equal((await paths({ q: 'lake', search_filename_only: 'perhaps' })).length, 1)
  })

  it('counts up to 1,000 results, and says if there are more', async () => {
    const many = await server.signUp()
    const id = await many.createLibrary('Many')
    const link = await uploadLink(many, id)
    const upload = async (from: number, count: number) => {
      const parts = Array.from({ length: count }, (_, n) => filePart(`ledger-${from + n}.bin`))
      const { status, text } = await postBody(link, formBytes([intoRoot, ...parts]))
      assert.equal(status, 200, text)
    }
    const counted = async (page: number, per_page: number) => {
      const { body } = await many.get('/api2/search/', {
        q: 'ledger',
        page: `${page}`,
        per_page: `${per_page}`,
      })
      const { total, total_is_minimum: isMinimum, has_more: hasMore, results } = body
      return [total, isMinimum, hasMore, results.length]
    }
    for (let from = 0; from < 1000; from += 100) await upload(from, 100)
    await eventually(async () => assert.deepEqual(await counted(1, 10), [1000, undefined, true, 10]))
    await upload(1000, 5)
    await eventually(async () => assert.deepEqual(await counted(1, 10), [1001, true, true, 10]))
    assert.deepEqual(await counted(10, 100), [1001, true, true, 100])
    assert.deepEqual(await counted(11, 100), [1005, undefined, false, 5])
    assert.deepEqual(await counted(12, 100), [1005, undefined, false, 0])
  })

  it('returns results in pages with the total count', async () => {
    const page = async (page: unknown, per_page: unknown) => {
      const { status, body } = await user.get('/api2/search/', {
        q: 'budget',
        page: String(page),
        per_page: String(per_page),
      })
      return status === 200 ? [body.total, body.has_more, body.results.length] : [status, body.error_msg]
    }
    assert.deepEqual(await page(1, 2), [3, true, 2])
    assert.deepEqual(await page(2, 2), [3, false, 1])
    assert.deepEqual(await page(9, 2), [3, false, 0])
    assert.deepEqual(await page(1, 0), [3, true, 0])
    assert.deepEqual(await page('x', 1), [3, false, 3])
    assert.deepEqual(await page(2, 'x'), [3, false, 3])
    assert.deepEqual(await page(1, 1_000_000), [3, false, 3])
    assert.deepEqual(await page('9'.repeat(30), 100), [3, false, 0])
    for (const [one, two] of [
      [0, 10],
      [-1, 10],
      [1, -1],
    ]) {
      assert.deepEqual(await page(one, two), [400, 'page or per_page invalid.'])
    }
  })

  it('distinguishes how the caller has access to a library', async () => {
    assert.equal((await paths({ q: 'budget', search_repo: 'mine' })).length, 3)
    assert.equal((await paths({ q: 'budget', search_repo: 'ALL' })).length, 3)
    for (const search_repo of ['shared', 'group', 'public']) {
      assert.deepEqual(await paths({ q: 'budget', search_repo }), [])
    }
    const shared = { q: 'budget', search_repo: 'shared' }
    for (const email of [other.email, 'nobody@example.org', 'not an address', '\u0000']) {
      assert.deepEqual(await paths({ ...shared, shared_from: email.replace('\u0000', 'x') }), [])
      assert.deepEqual(await paths({ ...shared, not_shared_from: email.replace('\u0000', 'x') }), [])
    }
  })

  it('returns nothing that the caller cannot read', async () => {
    assert.equal((await paths({ q: 'secret' })).length, 0)
    assert.deepEqual(await refusal({ q: 'budget', search_repo: foreign }), [
      403,
      { error_msg: 'Permission denied.' },
    ])
    assert.deepEqual(await refusal({ q: 'budget', search_repo: foreign, search_path: '/nowhere' }), [
      403,
      { error_msg: 'Permission denied.' },
    ])
    assert.equal((await server.anonymous.get('/api2/search/', { q: 'budget' })).status, 403)
  })

  it('explains invalid requests', async () => {
    const cases: [Params, number, string][] = [
      [{}, 400, 'Missing argument q.'],
      [{ q: '' }, 400, 'Missing argument q.'],
      [{ q: '  \t ' }, 400, 'Missing argument q.'],
      [{ q: 'a', search_repo: 'everything' }, 400, 'search_repo invalid.'],
      [{ q: 'a', search_repo: 'all', search_path: '/' }, 400, 'search_repo invalid.'],
      [{ q: 'a', search_path: '/' }, 400, 'search_repo invalid.'],
      [{ q: 'a', search_repo: NAMELESS }, 404, `Library ${NAMELESS} not found.`],
      [{ q: 'a', search_repo: 'z'.repeat(36) }, 404, `Library ${'z'.repeat(36)} not found.`],
      [{ q: 'a', search_repo: library, search_path: '/gone' }, 404, 'Folder /gone not found.'],
      [{ q: 'a', search_repo: library, search_path: '/../..' }, 404, 'Folder /../.. not found.'],
      [
        { q: 'a', search_repo: library, search_path: '/old budget.pdf' },
        404,
        'Folder /old budget.pdf not found.',
      ],
      [{ q: 'a', obj_type: 'link' }, 400, 'obj_type invalid.'],
      [{ q: 'a', search_ftypes: 'some' }, 400, 'search_ftypes invalid.'],
      [{ q: 'a', with_permission: '1' }, 400, 'with_permission invalid.'],
      [{ q: 'a', time_from: 'today' }, 400, 'time_from invalid.'],
      [{ q: 'a', time_to: '1.5' }, 400, 'time_to invalid.'],
      [{ q: 'a', size_from: '1e9' }, 400, 'size_from invalid.'],
      [{ q: 'a', size_to: '0x10' }, 400, 'size_to invalid.'],
    ]
    for (const [query, status, error_msg] of cases) {
      assert.deepEqual(await refusal(query), [status, { error_msg }], JSON.stringify(query))
    }
  })

  it('treats any query as plain text', async () => {
    const texts = [
      '"',
      '""',
      '" "',
      '"budget',
      'budget"',
      '*',
      'budg*',
      '**',
      '^budget',
      'NEAR(budget, 2)',
      'NEAR(',
      'tokens:budget',
      'name:',
      '{tokens}:budget',
      '-',
      '--',
      '-budget',
      '- budget',
      'AND',
      'OR',
      'NOT',
      'budget AND',
      'budget NOT',
      '&',
      '|',
      '!',
      ':*',
      "'",
      "''",
      "budget':*",
      '\\',
      '\\0',
      '%',
      '_',
      'a_b',
      '(',
      ')',
      '()',
      '(budget',
      '<->',
      'budget & !secret',
      "'; drop table search_entry; --",
      '.*',
      '(a+)+$',
      '[a-z]{1000}',
      '\u0000budget',
      '\ud800',
      '\ue0f0',
      '🗂️',
      '\u202e',
      '\u0301',
      'a'.repeat(10_000),
      'a b '.repeat(1500),
      '"'.repeat(4000),
      '-a '.repeat(2000),
      '报'.repeat(1200),
      'ﷺ'.repeat(500),
      Array.from({ length: 1500 }, (_, n) => `w${n}`).join(' '),
    ]
    for (const q of texts) {
      const began = performance.now()
      const reply = await user.get('/api2/search/', { q: q.toWellFormed() })
      assert.equal(reply.status, 200, `${q.slice(0, 50)}: ${reply.text}`)
      assert.equal(reply.body.total >= reply.body.results.length, true)
      for (const result of reply.body.results) assert.notEqual(result.repo_id, foreign)
      assert.ok(performance.now() - began < 5000, q.slice(0, 50))
    }
    assert.equal((await user.get('/api2/search/?q=%00%FF%ED%A0%80')).status, 200)
    assert.deepEqual(await paths({ q: '-budget' }), [])
    assert.equal((await paths({ q: 'budget -old' })).length, 2)
    assert.deepEqual(await paths({ q: 'ZURICH' }), ['/2025/draft/Ausflug nach Zürich.txt'])
    assert.deepEqual(await paths({ q: '%' }), [])
  })
})

describe('GET /api/v2.1/search-file/', () => {
  it('finds part of a name in one library, folders first', async () => {
    const reply = await user.get('/api/v2.1/search-file/', { repo_id: library, q: 'D' })
    assert.equal(reply.status, 200, reply.text)
    const found = reply.body.data.map((one: { path: string; type: string }) => [one.path, one.type])
    assert.deepEqual(found, [
      ['/2025/draft', 'folder'],
      ['/old budget.pdf', 'file'],
      ['/2025/budget.md', 'file'],
    ])
    const { data } = (await user.get('/api/v2.1/search-file', { repo_id: library, q: 'BUDGET.MD' })).body
    assert.deepEqual(data, [
      { path: '/2025/budget.md', size: 49, mtime: '2025-07-31T22:13:20+00:00', type: 'file' },
    ])
    assert.deepEqual((await user.get('/api/v2.1/search-file/', { repo_id: library, q: 'lake' })).body, {
      data: [],
    })
  })

  it('explains invalid requests', async () => {
    const cases: [Params, number, string][] = [
      [{ q: 'a' }, 400, 'repo_id invalid.'],
      [{ q: 'a', repo_id: 'x' }, 400, 'repo_id invalid.'],
      [{ repo_id: library }, 400, 'q invalid.'],
      [{ repo_id: library, q: ' ' }, 400, 'q invalid.'],
      [{ repo_id: NAMELESS, q: 'a' }, 404, `Library ${NAMELESS} not found.`],
      [{ repo_id: foreign, q: 'a' }, 403, 'Permission denied.'],
    ]
    for (const [query, status, error_msg] of cases) {
      assert.deepEqual(await refusal(query, '/api/v2.1/search-file/'), [status, { error_msg }])
    }
    assert.equal(
      (await server.anonymous.get('/api/v2.1/search-file/', { repo_id: library, q: 'a' })).status,
      403,
    )
  })
})

describe('the search status for administrators', () => {
  it('lists the documents whose text could not be extracted', async () => {
    const admin = await server.admin()
    await uploadFile(user, second, '/broken.txt', Buffer.from([0x61, 0xff, 0xfe, 0x00]))
    await eventually(async () => {
      const { body } = await admin.get('/api/v2.1/admin/search-failures/')
      assert.deepEqual(body, {
        total_count: 2,
        search_failure_list: [
          {
            repo_id: second,
            repo_name: 'Pictures',
            path: '/broken.txt',
            reason: 'The file is not text.',
            attempts: 1,
          },
          {
            repo_id: library,
            repo_name: 'Plans',
            path: '/old budget.pdf',
            reason: 'The file is not what its name says, or damaged.',
            attempts: 1,
          },
        ],
      })
    })
    assert.deepEqual(await paths({ q: 'broken' }), ['/broken.txt'])
    assert.equal((await user.get('/api/v2.1/admin/search-failures/')).status, 403)
  })

  it('reports how far the index is behind', async () => {
    const { text } = await (await server.admin()).get('/metrics')
    assert.match(text, /^carrel_search_commits_behind \d+$/m)
    assert.match(text, /^carrel_search_seconds_behind \d+$/m)
    assert.match(text, /^carrel_search_texts_waiting \d+$/m)
    assert.match(text, /^carrel_search_texts_failed 2$/m)
  })
})
