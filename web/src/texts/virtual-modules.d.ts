declare module 'virtual:languages' {
  /** The languages by their BCP 47 tags. */
  export const languages: Readonly<
    Record<
      string,
      { readonly name: string; readonly direction: 'ltr' | 'rtl'; readonly reviewed: boolean } | undefined
    >
  >
  /** Loads the texts of a language. The source language has no entry, because it is part of the app. */
  export const loaders: Readonly<Record<string, (() => Promise<{ default: unknown }>) | undefined>>
}

// Ambient modules cannot refer to types of files, so `texts.tsx` has the type.
declare module 'virtual:texts/*' {
  const createTexts: unknown
  export default createTexts
}
