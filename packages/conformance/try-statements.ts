import { AssertionError } from 'node:assert/strict'
import { NotTried, type Stage } from './stage.ts'
import { Difference, isMissing, type Statement, sectionOf } from './statement.ts'

/** What trying a statement showed. */
type Outcome =
  | { readonly result: 'ok' }
  | { readonly result: 'different'; readonly expected: string; readonly got: string }
  | { readonly result: 'not tried'; readonly reason: string }

export type Tried = Outcome & { readonly id: string; readonly section: string; readonly statement: string }

/** Characters of a value in a report. */
const MAX_VALUE = 300

/** Tries statements one after the other, until aborted. */
export async function* tryStatements(
  statements: readonly Statement[],
  stage: Stage,
  signal: AbortSignal,
): AsyncGenerator<Tried> {
  for (const statement of statements) {
    if (signal.aborted) return
    const outcome = await tried(statement, stage)
    yield { id: statement.id, section: sectionOf(statement), statement: statement.statement, ...outcome }
  }
}

async function tried(statement: Statement, stage: Stage): Promise<Outcome> {
  if (isMissing(statement)) return { result: 'not tried', reason: `needs ${statement.needs}` }
  try {
    await statement.run(stage)
    return { result: 'ok' }
  } catch (error) {
    if (error instanceof NotTried) return { result: 'not tried', reason: error.message }
    return { result: 'different', ...differenceIn(error) }
  }
}

function differenceIn(error: unknown): { expected: string; got: string } {
  if (error instanceof Difference) return { expected: error.expected, got: short(error.got) }
  if (error instanceof AssertionError && !error.generatedMessage) {
    return { expected: 'what the statement says', got: short(error.message) }
  }
  if (error instanceof AssertionError) return { expected: value(error.expected), got: value(error.actual) }
  // A response of another shape makes a check fail with any error, for example when it reads a field of nothing.
  return { expected: 'what the statement says', got: short(messageOf(error)) }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message !== '' ? `${error.message}: ${cause.message}` : error.message
}

const value = (of: unknown) => short(of instanceof RegExp ? String(of) : (JSON.stringify(of) ?? String(of)))

const short = (text: string) => (text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text)
