import type { Texts } from '../en/index.ts'

export const activity: Texts['activity'] = {}
