import { useQueryClient } from '@tanstack/react-query'
import { type LibraryItem, leaveLibrary } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { FormDialog, useToast } from '../ui/index.ts'
import { NamedLibrary } from './named-library.tsx'

export function LeaveDialog(props: { library: LibraryItem; onClose: () => void }) {
  const { repo_id: id, repo_name: name, encrypted, size } = props.library
  const texts = useTexts('libraries')
  const queries = useQueryClient()
  const toast = useToast()

  async function leave(): Promise<void> {
    await leaveLibrary(id)
    await queries.invalidateQueries({ queryKey: ['libraries'] })
    toast({ text: texts.left(name) })
  }

  return (
    <FormDialog title={texts.leaveTitle} submit={texts.leave} danger onSubmit={leave} onClose={props.onClose}>
      <NamedLibrary lead={texts.leaveLead} name={name} encrypted={encrypted} size={size} />
      <p className="muted">{texts.leaveText}</p>
    </FormDialog>
  )
}
