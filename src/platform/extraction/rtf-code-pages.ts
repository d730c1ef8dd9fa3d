const byNumber: { readonly [page: number]: string } = {
  437: 'windows-1252',
  866: 'ibm866',
  874: 'windows-874',
  932: 'shift_jis',
  936: 'gb18030',
  949: 'euc-kr',
  950: 'big5',
  10000: 'macintosh',
  10007: 'x-mac-cyrillic',
  65001: 'utf-8',
}

const byFontCharset: { readonly [charset: number]: string } = {
  77: 'macintosh',
  128: 'shift_jis',
  129: 'euc-kr',
  134: 'gb18030',
  136: 'big5',
  161: 'windows-1253',
  162: 'windows-1254',
  163: 'windows-1258',
  177: 'windows-1255',
  178: 'windows-1256',
  186: 'windows-1257',
  204: 'windows-1251',
  222: 'windows-874',
  238: 'windows-1250',
}

/** The charset of a Windows code page. */
export function codePageOf(page: number): string {
  if (page >= 1250 && page <= 1258) return `windows-${page}`
  return byNumber[page] ?? 'windows-1252'
}

/** The charset of a font by its number in the font table; undefined for the charset of the document. */
export function codePageOfFont(charset: number): string | undefined {
  return byFontCharset[charset]
}
