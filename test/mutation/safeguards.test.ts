import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, it } from 'node:test'
import { mutated } from './mutate.ts'
import { SAFEGUARDS } from './safeguards.ts'

const root = path.join(import.meta.dirname, '../..')

describe('the list of safeguards', () => {
  it('matches the code: each text to replace occurs exactly once', async () => {
    for (const safeguard of SAFEGUARDS) {
      const source = await readFile(path.join(root, safeguard.file), 'utf8')
      assert.notEqual(mutated(safeguard, source), source, safeguard.name)
    }
  })

  it('names test files that exist', () => {
    const files = SAFEGUARDS.flatMap(({ tests }) => tests)
    assert.deepEqual(
      files.filter((file) => !existsSync(path.join(root, file))),
      [],
    )
  })

  it('has several safeguards for every invariant', async () => {
    const page = await readFile(path.join(root, 'docs/architecture.md'), 'utf8')
    const invariants = [...page.matchAll(/^\| (I\d+) \|/gm)].map(([, number]) => number)
    assert.ok(invariants.length >= 10)
    for (const number of invariants) {
      const found = SAFEGUARDS.filter(({ invariant }) => invariant === number)
      assert.ok(found.length >= 2, `${number} has ${found.length}`)
    }
    assert.deepEqual(
      SAFEGUARDS.filter(({ invariant }) => !invariants.includes(invariant)),
      [],
    )
  })

  it('is in the tables of docs/reliability.md', async () => {
    const page = await readFile(path.join(root, 'docs/reliability.md'), 'utf8')
    const rows = SAFEGUARDS.map(({ invariant, name }) => `| ${invariant} | ${name} |`)
    assert.deepEqual(
      rows.filter((row) => !page.includes(row)),
      [],
      'disable it with `npm run test:mutation -- NAME --markdown`, and add the row',
    )
  })

  it('has a name for each', () => {
    assert.equal(new Set(SAFEGUARDS.map(({ name }) => name)).size, SAFEGUARDS.length)
  })
})
