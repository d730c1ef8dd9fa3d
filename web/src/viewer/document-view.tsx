import { useQuery } from '@tanstack/react-query'
import { CarrelError, fetchDocumentText } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { LoadError, Waiting } from '../ui/index.ts'
import { InfoCard } from './info-card.tsx'
import type { OpenedFile } from './opened-file.ts'

/** The extracted text of an office document, without its layout. */
export function DocumentView({ file }: { file: OpenedFile }) {
  const texts = useTexts('viewer')
  const { data, error, refetch } = useQuery({
    queryKey: ['file-document', file.libraryId, file.path, file.id, file.commitId ?? ''],
    queryFn: ({ signal }) => fetchDocumentText(file, signal),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (error instanceof CarrelError && error.status === 422) {
    return <InfoCard file={file} why={texts.noText} />
  }
  if (error) return <LoadError error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Waiting />
  if (data.text.trim() === '') return <InfoCard file={file} why={texts.emptyDocument} />
  return (
    // A long text must be scrollable by keyboard.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: as said above.
    <section className="viewer-body viewer-document" aria-label={texts.documentText} tabIndex={0}>
      <p className="viewer-note">{data.truncated ? texts.textOnlyCut : texts.textOnly}</p>
      <pre className="viewer-paper" dir="auto">
        {data.text}
      </pre>
    </section>
  )
}
