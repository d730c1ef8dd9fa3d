import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'

const folder = path.join(import.meta.dirname, '../../docs/decisions')
const read = (name: string) => readFileSync(path.join(folder, name), 'utf8')
const records = globSync('0*.md', { cwd: folder }).sort()
const frozen = JSON.parse(read('frozen.json')) as Record<string, string>

const numberOf = (name: string) => name.slice(0, 4)
const statusLine = /^- Status: (.*)\n/m
const statusOf = (name: string) => statusLine.exec(read(name))?.[1] ?? ''
/** Everything but the status, which alone may change once a record is accepted. */
const hashOf = (name: string) => createHash('sha256').update(read(name).replace(statusLine, '')).digest('hex')

describe('the decision records', () => {
  it('are numbered from one, without gaps', () => {
    assert.ok(records.length > 0)
    records.forEach((name, index) => {
      assert.match(name, new RegExp(`^${String(index + 1).padStart(4, '0')}-[a-z0-9-]+\\.md$`))
    })
  })

  for (const name of records) {
    it(`${name} has the sections of the template, in order`, () => {
      const [title = '', ...sections] = read(name)
        .split('\n')
        .filter((line) => /^##? /.test(line))
      assert.match(title, new RegExp(`^# ${numberOf(name)}\\. \\S`))
      assert.deepEqual(sections, ['## Context', '## Decision', '## Consequences'])
      assert.match(read(name), /^- Date: \d{4}-\d\d-\d\d$/m)
      assert.match(statusOf(name), /^(?:Proposed|Accepted|(?:Superseded|Amended) by \d{4}(?:, \d{4})*)$/)
    })
  }

  it('never change once they are accepted, except for their status', () => {
    const accepted = records.filter((name) => statusOf(name) !== 'Proposed')
    const hashes = Object.fromEntries(accepted.map((name) => [name, hashOf(name)]))
    assert.deepEqual(
      frozen,
      hashes,
      'write a new record instead; only a newly accepted one is added to frozen.json',
    )
  })

  it('are superseded and amended by later records that name them', () => {
    for (const name of records) {
      for (const later of statusOf(name).match(/\d{4}/g) ?? []) {
        assert.ok(later > numberOf(name), name)
        const successor = records.find((record) => numberOf(record) === later)
        assert.ok(successor !== undefined, `${name} names record ${later}, which does not exist`)
        assert.ok(read(successor).includes(numberOf(name)), `${successor} does not name ${name}`)
      }
    }
  })

  it('are listed in the index', () => {
    const index = read('README.md')
    assert.deepEqual(
      records.filter((name) => !index.includes(`(${name})`)),
      [],
    )
  })
})
