import type { Texts } from '../en/index.ts'

export const uploads: Texts['uploads'] = {}
