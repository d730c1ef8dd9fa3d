import { fork } from 'node:child_process'
import path from 'node:path'
import type { LoadPlan, LoadResult } from './plan.ts'

const GENERATOR = path.join(import.meta.dirname, 'generator.ts')

/** The server did not answer as declared, so what was measured means nothing. */
export class LoadError extends Error {
  override name = 'LoadError'
}

/** Puts a server under load from a process of its own. Throws LoadError for any answer that was not declared. */
export function runLoad(plan: LoadPlan): Promise<LoadResult> {
  return new Promise((resolve, reject) => {
    const child = fork(GENERATOR, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    child.once('error', reject)
    child.once('exit', (code) => reject(new LoadError(`the load generator ended with ${code}`)))
    child.once('message', (message) => {
      const told = message as { result: LoadResult } | { failure: string }
      if ('failure' in told) reject(new LoadError(told.failure))
      else if (told.result.errors > 0) reject(new LoadError(describeErrors(plan, told.result)))
      else resolve(told.result)
    })
    child.send(plan)
  })
}

function describeErrors({ request, status }: LoadPlan, { errors, samples }: LoadResult): string {
  const line = request.slice(0, request.indexOf(' HTTP/'))
  return `${errors} answers to ${line} were not ${status}, the first: ${samples.join(' | ')}`
}
