import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isMissing, sectionOf } from '../../packages/conformance/statement.ts'
import { statements } from '../../packages/conformance/statements.ts'
import { openStage, type TestStage } from './stage.ts'

let stage: TestStage
before(async () => {
  stage = await openStage()
})
after(() => stage[Symbol.asyncDispose]())

for (const [section, group] of Map.groupBy(statements, sectionOf)) {
  describe(`section ${section} of the documented API`, () => {
    for (const statement of group) {
      if (!isMissing(statement)) it(statement.statement, () => statement.run(stage))
    }
  })
}

describe('the table of the documented API', () => {
  it('has one row for each statement', () => {
    const ids = statements.map(({ id }) => id)
    assert.deepEqual(ids.toSorted(), [...new Set(ids)].toSorted())
    const sentences = statements.map((statement) => `${sectionOf(statement)} ${statement.statement}`)
    assert.deepEqual(sentences.toSorted(), [...new Set(sentences)].toSorted())
  })
})
