import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { groupByDay } from '../../../web/src/activity/activity-groups.ts'
import type { ActivityItem } from '../../../web/src/api/activity-types.ts'
import { splitMarked, splitName } from '../../../web/src/search/highlights.ts'
import { parseSearchQuery } from '../../../web/src/search/search-query.ts'

const shown = (pieces: readonly { text: string; isMatch: boolean }[]) =>
  pieces.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join('')

describe('marks of what was found', () => {
  it('are read from what the server marked, and from nothing else', () => {
    const cases: readonly [string, string][] = [
      ['the <b>budget</b> for', 'the [budget] for'],
      ['&lt;b&gt;no&lt;/b&gt; <b>yes</b>', '<b>no</b> [yes]'],
      ['<b>&lt;script&gt;</b>&amp;amp;', '[<script>]&amp;'],
      ['&quot;&#39;&#x41;&unknown; 5 &', '"\'A&unknown; 5 &'],
      ['<b>one</b><b>two</b>', '[one][two]'],
      ['<b>no end', '<b>no end'],
      ['&#9999999;', '&#9999999;'],
      ['', ''],
    ]
    for (const [sent, expected] of cases) assert.equal(shown(splitMarked(sent)), expected)
  })

  it('are found in names, whatever was typed', () => {
    assert.equal(shown(splitName('Yearly Budget.md', 'budget YEAR')), '[Year]ly [Budget].md')
    assert.equal(shown(splitName('a(b)[c].txt', 'a(b)[')), '[a(b)[]c].txt')
    assert.equal(shown(splitName('a.txt', '  ')), 'a.txt')
    assert.equal(shown(splitName('日本語.txt', '本')), '日[本]語.txt')
  })
})

describe('what the address of the search page asks for', () => {
  const now = 1_700_000_000
  const wish = (query: string) => parseSearchQuery(new URLSearchParams(query), now)

  it('is put in the words of the API', () => {
    const id = '5a1e0d2c-77aa-4c58-8f2b-90b1c0a4d9f1'
    assert.deepEqual(wish(`q=+plan+&in=${id}&p=/a&kind=image&ext=psd&size=medium&names=1`), {
      q: 'plan',
      search_repo: id,
      search_path: '/a',
      obj_type: 'file',
      search_ftypes: 'custom',
      ftype: 'image',
      input_fexts: 'psd',
      size_from: 1_000_000,
      size_to: 100_000_000,
      search_filename_only: true,
    })
    assert.deepEqual(wish('q=x&kind=folder&in=mine'), { q: 'x', obj_type: 'dir', search_repo: 'mine' })
    const { time_from: from = 0 } = wish('q=x&time=day')
    assert.ok(Math.abs(from - (now - 86_400)) < 3600)
  })

  it('leaves out what means nothing', () => {
    assert.deepEqual(wish('q=x&kind=nonsense&time=toString&size=__proto__&in=somewhere&p=/a'), { q: 'x' })
  })
})

describe('the feed by days', () => {
  const item = (more: Partial<ActivityItem>): ActivityItem => ({
    op_type: 'create',
    obj_type: 'file',
    repo_id: 'r',
    repo_name: 'R',
    commit_id: 'c',
    path: '/a',
    name: 'a',
    author_email: 'a@example.org',
    author_name: 'A',
    avatar_url: '',
    time: '2026-11-15T12:00:00Z',
    ...more,
  })

  it('tells in one line what one person did in one go', () => {
    const days = groupByDay([
      item({ path: '/3' }),
      item({ path: '/2', time: '2026-11-15T11:58:00Z' }),
      item({ path: '/1', time: '2026-11-15T11:54:00Z' }),
      item({ op_type: 'rename', path: '/x' }),
      item({ op_type: 'rename', path: '/y' }),
      item({ author_email: 'b@example.org' }),
      item({ time: '2026-11-13T12:00:00Z' }),
    ])
    assert.deepEqual(
      days.map(({ groups }) => groups.map(({ items }) => items.length)),
      [[2, 1, 1, 1, 1], [1]],
    )
  })
})
