import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Entry } from '../../../web/src/api/index.ts'
import { planNames, type RenameRule } from '../../../web/src/files/new-names.ts'

const entry = (name: string, type: 'file' | 'dir' = 'file') => ({ name, type, mtime: 0, id: name }) as Entry
const pattern = (text: string): RenameRule => ({ kind: 'pattern', pattern: text, start: 8, digits: 2 })
const replace = (find: string, replacement: string): RenameRule => ({ kind: 'replace', find, replacement })

const plan = (names: readonly string[], rule: RenameRule, others: readonly string[] = []) =>
  planNames(
    names.map((name) => entry(name)),
    new Set(others),
    rule,
  ).map(({ newName, problem }) => [newName, problem])

describe('new names by a rule', () => {
  it('keep the extensions of files, and those only', () => {
    assert.deepEqual(plan(['a.tar.gz', '.profile', 'none'], pattern('x{number}')), [
      ['x08.gz', undefined],
      ['x09', undefined],
      ['x10', undefined],
    ])
    const [folder] = planNames([entry('v1.2', 'dir')], new Set(), pattern('{name} old'))
    assert.equal(folder?.newName, 'v1.2 old')
  })

  it('replace text as it is written, in every place', () => {
    assert.deepEqual(plan(['a.b.a.txt', 'c.txt'], replace('a', '$&')), [
      ['$&.b.$&.txt', undefined],
      ['c.txt', undefined],
    ])
    assert.deepEqual(plan(['a.txt'], replace('', 'x')), [['a.txt', undefined]])
  })

  it('collide with each other and with what stays, but not with names that are given up', () => {
    assert.deepEqual(plan(['a.txt', 'b.txt'], pattern('x')), [
      ['x.txt', 'twice'],
      ['x.txt', 'twice'],
    ])
    assert.deepEqual(plan(['a1', 'a'], replace('a', 'a1'), ['a11']), [
      ['a11', 'taken'],
      ['a1', undefined],
    ])
  })

  it('are refused where the server would refuse them', () => {
    for (const name of ['', '..', 'a/b', 'a\\b', 'a\u0007', 'ä'.repeat(128)]) {
      assert.deepEqual(plan(['none'], pattern(name))[0]?.[1], 'invalid', JSON.stringify(name))
    }
  })
})
