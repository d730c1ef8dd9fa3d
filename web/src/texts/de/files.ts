import type { Texts } from '../en/index.ts'

export const files: Texts['files'] = {}
