import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { splitMarked, splitName } from '../../../web/src/search/highlights.ts'
import { parseSearchQuery } from '../../../web/src/search/search-query.ts'

const shown = (pieces: readonly { text: string; isMatch: boolean }[]) =>
  pieces.map(({ text, isMatch }) => (isMatch ? `[${text}]` : text)).join('')

describe('highlights of search results', () => {
  it('are read from the <b> tags of the server, and other markup stays text', () => {
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

  it('are the typed words in a name', () => {
    assert.equal(shown(splitName('Yearly Budget.md', 'budget YEAR')), '[Year]ly [Budget].md')
    assert.equal(shown(splitName('a(b)[c].txt', 'a(b)[')), '[a(b)[]c].txt')
    assert.equal(shown(splitName('a.txt', '  ')), 'a.txt')
    assert.equal(shown(splitName('日本語.txt', '本')), '日[本]語.txt')
  })
})

describe('the search query in the URL', () => {
  const now = 1_700_000_000
  const parse = (query: string) => parseSearchQuery(new URLSearchParams(query), now)

  it('becomes parameters of the API', () => {
    const id = '5a1e0d2c-77aa-4c58-8f2b-90b1c0a4d9f1'
    assert.deepEqual(parse(`q=+plan+&in=${id}&p=/a&kind=image&ext=psd&size=medium&names=1`), {
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
    assert.deepEqual(parse('q=x&kind=folder&in=mine'), { q: 'x', obj_type: 'dir', search_repo: 'mine' })
    assert.deepEqual(parse('q=plan&tag=to+%22read'), { q: 'tag:"to  read" plan' })
    assert.deepEqual(parse('tag=urgent'), { q: 'tag:"urgent"' })
    const { time_from: from = 0 } = parse('q=x&time=day')
    assert.ok(Math.abs(from - (now - 86_400)) < 3600)
  })

  it('ignores unknown values', () => {
    assert.deepEqual(parse('q=x&kind=nonsense&time=toString&size=__proto__&in=somewhere&p=/a'), { q: 'x' })
  })
})
