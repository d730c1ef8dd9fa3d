import { inspect } from 'node:util'

/** A reporter of node:test that sends each result to the runner. Errors are sent as text, because not all of them can be cloned. */
export default async function* sendEvents(source) {
  for await (const { type, data } of source) {
    if (type === 'test:pass' || type === 'test:fail') process.send?.(resultOf(type, data))
    // Unlike `test:start` these two are not held back until everything before them was reported.
    if (type === 'test:dequeue') process.send?.({ type: 'start', name: data.name, nesting: data.nesting })
    if (type === 'test:complete') process.send?.({ type: 'stop', nesting: data.nesting })
    if (type === 'test:diagnostic' && data.nesting > 0) process.send?.({ type: 'note', text: data.message })
    if (type === 'test:summary') process.send?.({ type: 'end' })
  }
  // Nothing is printed here, but a reporter has to be a generator.
  yield ''
}

function resultOf(type, { name, nesting, skip, todo, details }) {
  const { error, duration_ms: ms, type: kind } = details
  const isByChild = error?.failureType === 'subtestsFailed'
  const shown = error?.code === 'ERR_TEST_FAILURE' ? (error.cause ?? error) : error
  return {
    type: 'result',
    ok: type === 'test:pass' || todo !== undefined,
    name,
    nesting,
    kind,
    ms,
    skipped: skip ?? todo,
    error: error === undefined || isByChild ? undefined : inspect(shown),
  }
}
