import type { Texts } from '../en/index.ts'

export const libraries: Texts['libraries'] = {}
