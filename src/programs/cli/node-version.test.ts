import assert from 'node:assert/strict'
import { it } from 'node:test'
import { nodeProblem } from './node-version.ts'

it('accepts Node 24 from 24.16 on and 26.1 or newer, and rejects all others', () => {
  for (const version of ['24.16.0', '24.99.1', '26.1.0', '27.0.0']) {
    assert.equal(nodeProblem(version), undefined, version)
  }
  for (const version of ['20.20.0', '22.99.0', '24.15.9', '25.9.0', '26.0.0']) {
    assert.match(nodeProblem(version) ?? '', /^Carrel needs Node\.js 24\.16 .*\.$/, version)
  }
})
