import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { chooseLanguage, regionalVariant } from '../../../web/src/texts/language-choice.ts'
import { checkMessages } from '../../../web/texts-compiler/check.ts'
import { compileMessages } from '../../../web/texts-compiler/compile.ts'
import { evaluateTexts, loadCompiledTexts } from '../../../web/texts-compiler/load.ts'

const english = {
  area: {
    plain: 'It’s `plain` ${x} \\ "text" #',
    moved:
      '{count, plural, =0 {Nothing moved} one {# item moved to “{place}”} other {# items moved to “{place}”}}',
    kind: '{kind, select, dir {Folder {name}} other {File {name}}}',
    position: '{position, number} of {total, number}',
    element: '{who} added {what}',
    group: { many: '{count, plural, one {{who} added # file} other {{who} added # files}}', none: 'None' },
  },
}
const signatures = {
  area: {
    moved: 'place, count: number',
    kind: 'kind, name',
    position: 'total: number, position: number',
    group: 'count: number',
  },
}

type Compiled = {
  area: {
    plain: string
    moved: (place: string, count: number) => string
    kind: (kind: string, name: string) => string
    position: (total: number, position: number) => string
    element: string
    group: { many: (count: number) => string; none: (count: number) => string }
  }
}

async function compile(language: string, messages: object): Promise<Compiled['area']> {
  const source = compileMessages({ area: messages as Record<string, string> }, english, signatures)
  return ((await evaluateTexts(source, language)) as Compiled).area
}

describe('compiled messages', () => {
  it('take their arguments in the order of the signature', async () => {
    const texts = await compile('en', english.area)
    assert.equal(texts.plain, 'It’s `plain` ${x} \\ "text" #')
    assert.deepEqual(
      [0, 1, 2, 1500].map((count) => texts.moved('`${a}`', count)),
      [
        'Nothing moved',
        '1 item moved to “`${a}`”',
        '2 items moved to “`${a}`”',
        '1,500 items moved to “`${a}`”',
      ],
    )
    assert.deepEqual([texts.kind('dir', 'a'), texts.kind('file', 'b')], ['Folder a', 'File b'])
    assert.equal(texts.position(1000, 2), '2 of 1,000')
  })

  it('keep the places of elements, and apply the signature of a group to all messages in it', async () => {
    const texts = await compile('en', english.area)
    assert.equal(texts.element, '{who} added {what}')
    assert.deepEqual([texts.group.many(1), texts.group.none(1)], ['{who} added 1 file', 'None'])
  })

  it('are English with English plurals where the language has none, and follow its own rules elsewhere', async () => {
    const moved =
      '{count, plural, one {# до «{place}»} few {# до «{place}», кілька} many {# до «{place}», багато} other {# до «{place}», інше}}'
    const texts = await compile('uk', { moved })
    assert.deepEqual(
      [21, 22, 25].map((count) => texts.moved('a', count)),
      ['21 до «a»', '22 до «a», кілька', '25 до «a», багато'],
    )
    assert.equal(texts.group.many(21), '{who} added 21 files')
    assert.equal(texts.kind('dir', 'a'), 'Folder a')
  })

  it('isolate names in a language from right to left, and mark what would direct them', async () => {
    const { libraries, common, files } = await loadCompiledTexts('ar')
    assert.equal(files.moved(1, '2026 (a).pdf'), 'تم نقل «\u20682026 (a).pdf\u2069»')
    assert.equal(
      files.moved(1, '\u202egpj.exe\u2069\u2068'),
      'تم نقل «\u2068\ufffdgpj.exe\ufffd\ufffd\u2069»',
    )
    assert.equal(files.moved(3, ''), 'تم نقل 3 عناصر')
    // Of a message in a message.
    const visitor = common.visitor('Ann')
    assert.equal(
      libraries.changedBy(visitor, 'الآن'),
      '\u2068زائر (رابط من \u2068Ann\u2069)\u2069، \u2068الآن\u2069',
    )
  })

  it('fail to compile with a number that is not in the signature', () => {
    assert.throws(() => compileMessages({ area: { element: '{what, number}' } }, english, signatures), /what/)
  })

  it('are the texts of the app', async () => {
    const { files } = await loadCompiledTexts('de')
    assert.equal(files.moved(1, 'a.txt'), '„a.txt“ verschoben')
    assert.equal(files.moved(1200, 'a.txt'), '1.200 Elemente verschoben')
  })
})

describe('the check of messages', () => {
  const problems = (language: string, messages: object) =>
    checkMessages(language, { area: messages as Record<string, string> }, english, signatures).problems

  it('reports keys, arguments and plural forms that do not fit', () => {
    assert.deepEqual(problems('en', english.area), [])
    assert.deepEqual(problems('fr', { other: 'x' }), ['area.other: English has no such key'])
    assert.deepEqual(problems('fr', { element: '{who} a ajouté {quoi}' }), [
      'area.element: lacks the argument {what}',
      'area.element: has an unknown argument {quoi}',
    ])
    assert.deepEqual(problems('fr', { element: "l'{who} {what}" }), [
      'area.element: use ’ instead of an ASCII apostrophe',
    ])
    assert.deepEqual(problems('pl', { moved: '{count, plural, one {# {place}} other {# {place}}}' }), [
      'area.moved: lacks the plural case many',
      'area.moved: lacks the plural case few',
    ])
    assert.deepEqual(problems('en', { position: '{position} of {total, number}' }), [
      'area.position: uses {position} with the wrong type',
    ])
    assert.equal(problems('ja', { moved: '{count, plural, one {# {place}} other {# {place}}}' }).length, 1)
    assert.equal(problems('en', { element: '{who} {what' }).length, 1)
  })

  it('lists what is missing', () => {
    const messages = { area: { plain: 'x', moved: 'x', kind: 'x', position: 'x', element: 'x' } }
    assert.deepEqual(checkMessages('fr', messages, english, signatures).missing, [
      'area.group.many',
      'area.group.none',
    ])
  })
})

describe('the choice of a language', () => {
  const available = ['en', 'de', 'pt-BR', 'zh']

  it('is the first preferred one that is available, in any region', () => {
    assert.equal(chooseLanguage(['', 'fr-CA', 'de-AT', 'en'], available), 'de')
    assert.equal(chooseLanguage(['pt-PT'], available), 'pt-BR')
    assert.equal(chooseLanguage(['PT-br'], available), 'pt-BR')
    assert.equal(chooseLanguage(['zh-Hant-TW'], available), 'zh')
    assert.equal(chooseLanguage(['fr'], available), undefined)
  })

  it('has the formats of the preferred region', () => {
    assert.equal(regionalVariant('de', ['en-US', 'de-AT']), 'de-AT')
    assert.equal(regionalVariant('pt-BR', ['pt-PT']), 'pt-BR')
    assert.equal(regionalVariant('de', ['den']), 'de')
  })
})
