import path from 'node:path'
import { runInChild } from './child.ts'
import type { StreamPlan, StreamResult } from './stream-plan.ts'

const GENERATOR = path.join(import.meta.dirname, 'stream-generator.ts')

/**
 * Sends long bodies or reads long answers from a process of its own. Throws LoadError for any answer that
 * was not declared.
 * @param onMeasuring called as the first byte is sent
 */
export function runStreams(plan: StreamPlan, onMeasuring?: () => void): Promise<StreamResult> {
  return runInChild(GENERATOR, plan, onMeasuring)
}
