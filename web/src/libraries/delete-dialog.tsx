import { useQueryClient } from '@tanstack/react-query'
import { deleteLibrary, type LibraryItem, restoreLibrary } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { FormDialog, useFailureToast, useToast } from '../ui/index.ts'
import { NamedLibrary } from './named-library.tsx'

export function DeleteDialog(props: { library: LibraryItem; onClose: () => void }) {
  const { repo_id: id, repo_name: name, encrypted, size } = props.library
  const texts = useTexts('libraries')
  const queries = useQueryClient()
  const toast = useToast()
  const failed = useFailureToast()

  const refresh = async () => {
    void queries.invalidateQueries({ queryKey: ['starred'] })
    void queries.invalidateQueries({ queryKey: ['deleted-libraries'] })
    await queries.invalidateQueries({ queryKey: ['libraries'] })
  }

  async function bringBack(): Promise<void> {
    try {
      await restoreLibrary(id)
      await refresh()
      toast({ text: texts.restored(name) })
    } catch (error) {
      failed(error)
    }
  }

  async function remove(): Promise<void> {
    await deleteLibrary(id)
    await refresh()
    toast({
      text: texts.deleted(name),
      undo: () => void bringBack(),
    })
  }

  return (
    <FormDialog
      title={texts.deleteTitle}
      submit={texts.deleteSubmit}
      danger
      onSubmit={remove}
      onClose={props.onClose}
    >
      <NamedLibrary lead={texts.deleteLead} name={name} encrypted={encrypted} size={size} />
      <p className="muted">{texts.deleteText}</p>
    </FormDialog>
  )
}
