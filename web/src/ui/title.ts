import { useEffect } from 'react'
import { useTexts } from '../texts/texts.tsx'

/** What the tab of the browser is called while a page is shown. */
export function useTitle(name: string): void {
  const { appName } = useTexts('common')
  useEffect(() => {
    document.title = name === '' ? appName : `${name} · ${appName}`
    return () => {
      document.title = appName
    }
  }, [name, appName])
}
