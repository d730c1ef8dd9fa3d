import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { Revision } from '../api/index.ts'
import { fetchBytes, linkQuery } from '../api/index.ts'
import { DiffView } from '../diff/index.ts'
import { decodeText, MAX_BYTES } from '../text-content.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Dialog, LoadError, Waiting } from '../ui/index.ts'

/** Line diff of two revisions of a text file. */
export function CompareDialog(props: {
  libraryId: string
  older: Revision
  newer: Revision
  onClose: () => void
}) {
  const { libraryId, older, newer, onClose } = props
  const texts = useTexts('history')
  const formats = useFormats()
  const queries = useQueryClient()
  const { data, error, refetch } = useQuery({
    queryKey: ['comparison', libraryId, older.commit_id, newer.commit_id, newer.path],
    queryFn: async ({ signal }) => {
      const textOf = async ({ path, rev_file_id: id, commit_id: commitId }: Revision) => {
        const link = await queries.ensureQueryData(linkQuery({ libraryId, path, id, commitId }))
        const bytes = await fetchBytes(link, MAX_BYTES, signal)
        // Truncated files are not compared.
        return bytes.length < MAX_BYTES ? decodeText(bytes, true)?.text : undefined
      }
      const [before, after] = await Promise.all([textOf(older), textOf(newer)])
      return { before, after }
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const body = () => {
    if (error) return <LoadError error={error} onRetry={() => void refetch()} />
    if (data === undefined) return <Waiting />
    const { before, after } = data
    if (before === undefined || after === undefined) return <p>{texts.cannotCompare}</p>
    const labels = { before: formats.moment(older.ctime), after: formats.moment(newer.ctime) }
    return <DiffView before={before} after={after} labels={labels} />
  }
  return (
    <Dialog title={texts.comparison} onClose={onClose} wide>
      {body()}
    </Dialog>
  )
}
