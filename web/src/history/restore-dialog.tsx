import { useQueryClient } from '@tanstack/react-query'
import { type Restorable, restore, useCommit } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { FormDialog, useToast } from '../ui/index.ts'

/** Asks before something is restored to a commit. Restoring adds a commit, so nothing is lost. */
export function RestoreDialog(props: {
  libraryId: string
  commitId: string
  what: Restorable
  onClose: () => void
}) {
  const { libraryId, commitId, what, onClose } = props
  const texts = useTexts('history')
  const common = useTexts('common')
  const formats = useFormats()
  const toast = useToast()
  const queries = useQueryClient()
  const { data: commit } = useCommit(libraryId, commitId)
  const time = commit && formats.moment(commit.commit_info.time)
  return (
    <FormDialog
      title={texts.restoreTitle[what.kind]}
      submit={common.restore}
      onClose={onClose}
      onSubmit={async () => {
        await restore(libraryId, commitId, what)
        for (const key of ['dir', 'history', 'library', 'trash']) {
          void queries.invalidateQueries({ queryKey: [key, libraryId] })
        }
        toast({ text: texts.restored })
      }}
    >
      {what.kind !== 'library' && (
        <p className="history-path">
          <bdi>{what.path}</bdi>
        </p>
      )}
      <p>
        {texts.restoreHint[what.kind]}
        {time && ` ${texts.stateOf(time)}`}
      </p>
      <p className="muted">{texts.nothingLost}</p>
    </FormDialog>
  )
}
