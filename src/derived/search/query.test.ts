import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { extensionOf, extensionsOf } from './categories.ts'
import { namesWithWords, rendered, renderedTokens, textsWithWords } from './expression.ts'
import { fold } from './fold.ts'
import { highlight } from './highlight.ts'
import { parseQuery } from './query.ts'
import { gramsOf, partOfName, tokensIn } from './tokens.ts'

describe('folding', () => {
  const cases: [string, string][] = [
    ['Straße', 'strasse'],
    ['ÉCOLE', 'ecole'],
    ['e\u0301cole', 'ecole'],
    ['ﬁnal', 'final'],
    ['ＡＢＣ１２３', 'abc123'],
    ['İstanbul ılık', 'istanbul ilik'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['한국어', '한국어'],
    ['한국어'.normalize('NFD'), '한국어'],
    ['がぎ', 'がぎ'],
    ['ｶﾞ', 'ガ'],
    ['Ørsted Łódź', 'orsted lodz'],
    ['\ud800x', '\ufffdx'],
  ]
  for (const [text, folded] of cases) {
    it(`folds ${JSON.stringify(text)} to ${JSON.stringify(folded)}`, () => assert.equal(fold(text), folded))
  }
})

describe('tokens', () => {
  it('are words, and bigrams in scripts without spaces', () => {
    assert.deepEqual(
      [...tokensIn('a quick_fox-2, 文件夹x')],
      ['a', 'quick', 'fox', '2', '文件', '件夹', '夹', 'x'],
    )
  })

  it('of a name are the 4-grams from each character', () => {
    assert.deepEqual(gramsOf('a.bc'), [
      '\ue0f0a\ue02eb',
      'a\ue02ebc',
      '\ue02ebc\ue0f1',
      'bc\ue0f1',
      'c\ue0f1',
      '\ue0f1',
    ])
    assert.deepEqual(partOfName('abc'), { tokens: ['abc'], prefix: true, text: 'abc' })
    assert.deepEqual(partOfName('abcde'), { tokens: ['abcd', 'bcde'], prefix: false, text: 'abcde' })
  })

  it('never contain operators of the engine', () => {
    const odd = String.fromCharCode(...Array.from({ length: 128 }, (_, code) => code))
    for (const token of [...gramsOf(odd), ...tokensIn(odd)])
      assert.doesNotMatch(token, /[^a-z0-9\u0080-\uffff]/i)
    const query = parseQuery(`${odd} "${odd}" -${odd}`)
    for (const expression of [namesWithWords(query, ['p"d\'f']), textsWithWords(query, undefined)]) {
      assert.ok(expression)
      assert.match(rendered(expression, 'sqlite'), /^[a-z0-9\u0080-\uffff() "*]|AND|OR|NOT+$/i)
      assert.match(rendered(expression, 'postgres'), /^[a-z0-9\u0080-\uffff() '*:&|!<>-]+$/i)
    }
    assert.equal(renderedTokens(['a', 'b', 'a'], 'postgres'), "'a':1,3 'b':2")
  })
})

describe('a query', () => {
  const terms = (text: string) => parseQuery(text).terms.map(({ folded }) => folded)
  const excluded = (text: string) => parseQuery(text).excluded.map(({ folded }) => folded)

  it('has words, quoted phrases and excluded words', () => {
    assert.deepEqual(terms('one "two three" -four'), ['one', 'two three'])
    assert.deepEqual(excluded('one -four -"five six"'), ['four', 'five six'])
    assert.deepEqual(terms('"open end'), ['open end'])
    assert.deepEqual(terms('" - -- ""'), ['- --', '"'])
    assert.deepEqual(terms('- -- ""'), ['-', '--', '""'])
    assert.equal(parseQuery('one two').isPlain, true)
    assert.equal(parseQuery('"one" two').isPlain, false)
  })

  it('matches its last word as a prefix, unless it is quoted or followed by a space', () => {
    const goesOn = (text: string) => parseQuery(text).terms.at(-1)?.phrases.at(-1)?.prefix
    assert.equal(goesOn('one tw'), false)
    assert.equal(goesOn('one two'), true)
    assert.equal(goesOn('one two '), false)
    assert.equal(goesOn('one "two"'), false)
    assert.equal(goesOn('one.txt'), true)
    assert.equal(goesOn('文'), true)
  })

  it('is bounded in length', () => {
    const many = parseQuery(Array.from({ length: 5000 }, (_, n) => `w${n}`).join(' '))
    assert.equal(many.terms.length, 64)
    assert.ok((parseQuery('a.'.repeat(5000)).terms[0]?.phrases[0]?.tokens.length ?? 0) <= 64)
  })
})

describe('a highlight', () => {
  const show = (text: string, query: string) => highlight(text, parseQuery(query), 1_000_000)

  it('marks matches in bold and escapes everything else', async () => {
    assert.equal(
      await show('a <i>Fox</i> & "fox"', 'fox'),
      'a &lt;i&gt;<b>Fox</b>&lt;/i&gt; &amp; &quot;<b>fox</b>&quot;',
    )
    assert.equal(await show('Zürich liegt am See', 'zur'), '<b>Zürich</b> liegt am See')
    assert.equal(await show('nothing here', 'fox'), '')
    assert.equal(await show('<b>', '<b>'), '&lt;<b>b</b>&gt;')
  })

  it('marks a phrase as a whole', async () => {
    assert.equal(await show('red fox, brown fox', '"brown fox"'), 'red fox, <b>brown</b> <b>fox</b>')
  })

  it('shows the excerpt with the most matches', async () => {
    const text = `lake ${'filler '.repeat(200)}budget of the lake ${'filler '.repeat(200)}`
    const shown = await show(text, 'lake budget')
    assert.match(shown, /<b>budget<\/b> of the <b>lake<\/b>/)
    assert.ok(shown.length < 400)
  })

  it('never cuts within a character', async () => {
    const shown = await show(`${'🗂'.repeat(500)} fox ${'🗂'.repeat(500)}`, 'fox')
    assert.match(shown, /<b>fox<\/b>/)
    assert.ok(shown.isWellFormed())
  })
})

describe('categories', () => {
  it('are case-insensitive', () => {
    assert.deepEqual(extensionsOf('SpreadSheet'), ['xls', 'xlsx', 'ods', 'fods'])
    assert.deepEqual(extensionsOf('3d'), ['stl', 'obj'])
    assert.equal(extensionsOf('constructor'), undefined)
    assert.equal(extensionOf('a.TAR.GZ'), 'gz')
    assert.equal(extensionOf('none'), '')
  })
})
