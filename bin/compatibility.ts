import { isMissing, type Statement, sectionOf } from '../packages/conformance/statement.ts'

/** The table of the statements of the API documentation. The tests try each. */
export function statementsTable(statements: readonly Statement[]): string {
  const rows = statements.map((statement) => {
    const [result, note] = isMissing(statement)
      ? ['not there yet', `Comes with ${statement.needs}.`]
      : ['yes', statement.note ?? '']
    const cells = [sectionOf(statement), statement.statement, result, note]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`.replace(/ {2}\|$/, ' |')
  })
  return ['| Section | Statement | Result | Note |', '| --- | --- | --- | --- |', ...rows].join('\n')
}
