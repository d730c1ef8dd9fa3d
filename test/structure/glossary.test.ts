import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'

const root = path.join(import.meta.dirname, '../..')
const glossary = readFileSync(path.join(root, 'docs/glossary.md'), 'utf8')

interface Row {
  readonly term: string
  readonly meaning: string
  readonly code: string
}

const rows = glossary
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (?:Term|---) \|/.test(line))
  .map((line): Row => {
    const [, term = '', meaning = '', code = ''] = line.split(' | ').join('|').split('|')
    return { term: term.trim(), meaning: meaning.trim(), code: code.trim() }
  })

const links = [...glossary.matchAll(/\[`([^`]+)`\]\(\.\.\/([^)#]+)\)/g)].map(([, name = '', file = '']) => ({
  name,
  file,
}))

const hasName = (file: string, name: string) =>
  new RegExp(`(?<![\\w$])${RegExp.escape(name)}(?![\\w$])`).test(readFileSync(path.join(root, file), 'utf8'))

/** Files that declare the name, for the message of a link that became wrong when code moved. */
function declaringFiles(name: string): string[] {
  const declaration = new RegExp(
    `^export .*\\b(?:class|interface|type|function\\*?|const) ${RegExp.escape(name)}\\b`,
    'm',
  )
  return globSync(['src/**/*.ts', 'packages/**/*.ts', 'bench/**/*.ts', 'test/**/*.ts', 'web/src/**/*.ts'], {
    cwd: root,
  }).filter((file) => declaration.test(readFileSync(path.join(root, file), 'utf8')))
}

describe('the glossary', () => {
  it('has a meaning of one sentence or more for each term', () => {
    assert.ok(rows.length > 50)
    assert.deepEqual(
      rows.filter(({ meaning }) => !meaning.endsWith('.')).map(({ term }) => term),
      [],
    )
  })

  it('defines each term once', () => {
    const terms = rows.map(({ term }) => term.toLowerCase())
    assert.deepEqual(
      terms.filter((term, index) => terms.indexOf(term) !== index),
      [],
    )
  })

  it('links each name to a file that contains it', () => {
    assert.ok(links.length > 50)
    const broken = links
      .filter(({ file, name }) => !existsSync(path.join(root, file)) || !hasName(file, name))
      .map(
        ({ file, name }) =>
          `${name} is not in ${file}, but in ${declaringFiles(name).join(', ') || 'no file'}`,
      )
    assert.deepEqual(broken, [])
  })
})
