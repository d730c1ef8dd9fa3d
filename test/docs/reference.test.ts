import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { readDescription } from '../../bin/description.ts'
import { listPages } from '../../site/pages.ts'
import { linkCalls, makeReference, REFERENCE_PAGES } from '../../site/reference.ts'
import { anchorsOf, headingAnchors } from './anchors.ts'

const root = path.join(import.meta.dirname, '../..')
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

describe('the reference of the API', () => {
  const description = readDescription()
  const { pages, calls } = makeReference(description)
  const page = (name: string) => pages.get(`api/${name}.md`) ?? ''
  /** The part of a page about one call. */
  const section = (name: string, call: string) =>
    page(name)
      .split(/^## /m)
      .find((part) => part.startsWith(`${call}\n`)) ?? ''

  it('has the pages of the menu', () => {
    assert.deepEqual(
      [...pages.keys()],
      REFERENCE_PAGES.map(({ target }) => target),
    )
  })

  it('has every call of the description once', () => {
    const described = Object.entries(description.paths).flatMap(([template, methods]) =>
      Object.keys(methods).map(
        (method) => `${method.toUpperCase()} ${template.replace(/\{(\w+)\}/g, ':$1')}`,
      ),
    )
    const headings = [...pages.values()].flatMap((text) =>
      Array.from(text.matchAll(/^## ([A-Z]+) `([^`]+)`$/gm), ([, method, at]) => `${method} ${at}`),
    )
    assert.deepEqual(headings.sort(), described.sort())
    assert.deepEqual([...calls.keys()].sort(), described)
  })

  it('links only to pages and headings that exist, each with an anchor of its own', () => {
    const texts = new Map([
      ...listPages(root).map(({ source, target }) => [target, read(source)] as const),
      ...pages,
    ])
    const anchors = new Map(Array.from(texts, ([file, text]) => [file, new Set(anchorsOf(text))]))
    for (const [file, text] of pages) {
      const own = headingAnchors(text)
      assert.equal(new Set(own).size, own.length, file)
      for (const [link, to = '', anchor] of text.matchAll(/\]\(([^)#\s]*)(?:#([^)\s]+))?\)/g)) {
        if (to.startsWith('/')) continue
        const target = to === '' ? file : path.posix.join(path.posix.dirname(file), to)
        const found = anchors.get(target)
        assert.ok(found !== undefined, `${file}: ${link}`)
        if (anchor !== undefined) assert.ok(found.has(anchor), `${file}: ${link}`)
      }
    }
    for (const target of calls.values()) {
      const [file = '', anchor = ''] = target.split('#')
      assert.ok(anchors.get(file)?.has(anchor), target)
    }
  })

  it('shows credential, parameters, body, responses, an example and a command of a call', () => {
    const lock = section('files', 'PUT `/api/v2.1/repos/:repo_id/file/`')
    assert.match(lock, /^Credential: an API token, or a personal token with the scope `write`\./m)
    assert.match(lock, /^\| `p` \| query \| string, required \| A path in the library, from its root\. \|$/m)
    assert.match(lock, /^\| `operation` \| `lock`, `unlock` or `refresh-lock`, required \|/m)
    assert.match(lock, /^\*\*Response 200\*\*: The file\.$/m)
    assert.match(lock, /^\*\*Errors\*\*: 400, 401, /m)
    assert.ok(
      lock.includes(`curl -X PUT -H "Authorization: Token $API_TOKEN" \\
  -d 'operation=lock' \\
  'https://files.example.org/api/v2.1/repos/REPO_ID/file/?p=/PATH'
`),
      lock,
    )
    const create = section('files', 'POST `/api/v2.1/repos/:repo_id/file/`')
    assert.match(create, /^```json\n\{\n {2}"type": "file",\n/m)
    assert.ok(create.includes('[FileInfo](#fileinfo) or [Success](#success)'), create)
    const status = section('admin-server', 'GET `/api/v2.1/admin/status/`')
    assert.match(status, /^\| `disk\.free` \| integer \| Bytes that are free\. \|$/m)
    assert.match(status, /^\| `nodes\[\]\.id` \| string \|/m)
    assert.match(page('files'), /^### FileInfo\n\n\| Field \|/m)
  })

  it('is linked from tables of calls', () => {
    const rows = linkCalls(read('docs/endpoints.md'), calls)
    assert.ok(
      rows.includes(
        '| GET | [`/api/v2.1/activities/`](./api/events.md#get-apiv21activities) | user | Lists the activities',
      ),
    )
    assert.ok(rows.includes('| GET | `/api/docs` | none |'), 'which is not part of the description')
  })
})
