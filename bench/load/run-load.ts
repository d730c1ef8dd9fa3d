import path from 'node:path'
import { LoadError, runInChild } from './child-process.ts'
import type { LoadPlan, LoadResult } from './plan.ts'

const GENERATOR = path.join(import.meta.dirname, 'generator.ts')

/**
 * Puts a server under load from a child process. Throws LoadError for an undeclared status.
 * @param onMeasuring called when the warm-up is over
 */
export async function runLoad(plan: LoadPlan, onMeasuring?: () => void): Promise<LoadResult> {
  const result = await runInChild<LoadResult>(GENERATOR, plan, onMeasuring)
  if (result.errors > 0) throw new LoadError(describeErrors(plan, result))
  return result
}

function describeErrors({ requests, status }: LoadPlan, { errors, samples }: LoadResult): string {
  const line = requests[0]?.slice(0, requests[0].indexOf(' HTTP/'))
  return `${errors} responses to ${line} were not ${status}, the first: ${samples.join(' | ')}`
}
