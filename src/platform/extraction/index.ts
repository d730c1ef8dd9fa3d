export {
  createTextExtractor,
  ExtractorUnavailable,
  isExtractable,
  type TextExtractor,
} from './text-extractor.ts'
