import { DomainError, type Fault } from '../errors.ts'
import { Answer, type AnswerHeaders, answer } from './answer.ts'
import { Refusal } from './refusal.ts'
import type { HttpRequest } from './request.ts'
import type { FaultAnswer, FaultWords, Route } from './route.ts'

/** A set of routes that speaks to one kind of client, and its words for the faults it can meet. */
export interface Surface<User, Services> extends Wording {
  readonly routes: readonly Route<User, Services>[]
}

/** How what goes wrong is put to a client. */
export interface Wording {
  /** A fault without words is one this surface cannot meet: if it does, that is a bug of ours. */
  readonly faults: FaultWords
  /** The body a fault's message is sent in; `{"error_msg": message}` unless said otherwise. */
  readonly faultBody?: (message: string) => unknown
  /** In place of `faultBody`, for clients that are not answered in JSON. */
  readonly faultAnswer?: (status: number, message: string) => Answer
  /** The answer to our own bugs, after they were logged; a plain 500 unless said otherwise. */
  readonly onUnknownError?: (error: unknown, request: HttpRequest) => Answer
  /** Sent with every answer that does not have them itself, whatever it is, beside those every surface sends. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The answer to something thrown on purpose, or undefined when it is a bug of ours. */
export function answerToThrown(
  thrown: unknown,
  surface: Wording,
  routeFaults: FaultWords,
): Answer | undefined {
  if (thrown instanceof Refusal) return thrown.toAnswer()
  if (!(thrown instanceof DomainError)) return undefined
  const words = put(thrown.fault, routeFaults) ?? put(thrown.fault, surface.faults)
  if (words === undefined) return undefined
  const [status, message, headers] = words
  if (surface.faultAnswer !== undefined) return withHeaders(surface.faultAnswer(status, message), headers)
  return answer(status, surface.faultBody?.(message) ?? { error_msg: message }, headers)
}

function withHeaders(given: Answer, headers: AnswerHeaders | undefined): Answer {
  if (headers === undefined) return given
  return new Answer(given.status, { ...given.headers, ...headers }, given.body)
}

export function plainFailure(): Answer {
  return answer(500, { error_msg: 'Internal Server Error' })
}

function put(fault: Fault, table: FaultWords): FaultAnswer | undefined {
  // The entry under a fault's code takes just that fault; the compiler cannot pair them through a union.
  const word = table[fault.code] as ((fault: Fault) => FaultAnswer) | undefined
  return word?.(fault)
}
