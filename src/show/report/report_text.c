// Text as HTML: escaped, with syntax colouring, or as a table; and the style of the page.
//
// External text only enters a page through html_text, which escapes markup and quotes and replaces
// invalid characters.
#include "base/diag.h"
#include "base/names.h"
#include "base/source.h"
#include "show/report/report_own.h"

#include "lang/syntax/syntax.h"

#include <math.h>

// One accent colour. The background equals that of pictures, so that these have no visible border.
const char report_style[] =
    ":root{color-scheme:light dark;--paper:#fff;--text:#1f2328;--soft:#626a73;--grid:#e3e6e9;"
    "--plate:#f4f5f7;--accent:#0065a8;--alarm:#c62828;--word:#0065a8;--remark:#5f6b76;"
    "--number:#9a4a00;--string:#00684a}\n"
    "@media (prefers-color-scheme:dark){:root{--paper:#1e1e1e;--text:#e6e6e6;--soft:#a0a6ad;"
    "--grid:#383c42;--plate:#282828;--accent:#56b4e9;--alarm:#ff7b72;--word:#7cc4f0;"
    "--remark:#98a1a9;--number:#f0a26a;--string:#5fcfa9}}\n"
    "*{box-sizing:border-box}\n"
    "html{-webkit-text-size-adjust:100%}\n"
    "body{margin:0;background:var(--paper);color:var(--text);font:1rem/1.6 system-ui,-apple-system,"
    "\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,sans-serif}\n"
    "main{max-width:44rem;margin:0 auto;padding:4rem 1.25rem 5rem}\n"
    "h1{font-size:2.25rem;line-height:1.15;font-weight:650;letter-spacing:-.02em;margin:0;"
    "overflow-wrap:anywhere}\n"
    "h2{font-size:1.125rem;line-height:1.3;font-weight:600;letter-spacing:-.005em;"
    "margin:4rem 0 1.25rem}\n"
    "p{margin:0 0 1rem}\n"
    ".facts{color:var(--soft);margin:.6rem 0 0}\n"
    ".facts span+span::before{content:\"\\00b7\";margin:0 .5em;color:var(--soft)}\n"
    ".facts .good{color:var(--accent);font-weight:550}\n"
    ".facts .bad{color:var(--alarm);font-weight:550}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.4rem 1.5rem .4rem 0;text-align:left;vertical-align:baseline;"
    "border-bottom:1px solid var(--grid)}\n"
    "thead th{font-weight:400;font-size:.875rem;color:var(--soft)}\n"
    "tbody th{font-weight:500}\n"
    "th.n{white-space:nowrap}\n"
    "small{font-size:.875rem;font-weight:400;color:var(--soft)}\n"
    "td.n,th.n{text-align:right;padding-right:0;padding-left:1.5rem}\n"
    "td.best{color:var(--accent);font-weight:600}\n"
    "td.none{color:var(--soft)}\n"
    "a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:.15em}\n"
    ".wide{overflow-x:auto;overflow-y:hidden}\n"
    ".wide:focus-visible,pre:focus-visible{outline:2px solid var(--accent);outline-offset:4px}\n"
    "figure{margin:0 0 3rem}\n"
    "figure:last-child{margin-bottom:0}\n"
    "figcaption{margin-bottom:.75rem;font-size:.875rem;color:var(--soft);overflow-wrap:anywhere}\n"
    "figcaption code{color:var(--text)}\n"
    "svg{display:block;height:auto}\n"
    "code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,\"DejaVu Sans Mono\","
    "monospace;font-size:.8438rem}\n"
    "pre{margin:0;padding:1.1rem 1.25rem;background:var(--plate);border-radius:6px;overflow-x:auto;"
    "line-height:1.6;tab-size:4}\n"
    "pre.words{white-space:pre-wrap;overflow-wrap:anywhere}\n"
    "pre b{font-weight:400;color:var(--word)}\n"
    "pre i{font-style:normal;color:var(--remark)}\n"
    "pre u{text-decoration:none;color:var(--number)}\n"
    "pre q{quotes:none;color:var(--string)}\n"
    "dl{display:grid;grid-template-columns:minmax(6rem,max-content) 1fr;gap:.3rem 2rem;margin:0;"
    "font-size:.9375rem}\n"
    "dt{color:var(--soft)}\n"
    "dd{margin:0;overflow-wrap:anywhere;min-width:0}\n"
    ".alarm{color:var(--alarm);overflow-wrap:anywhere}\n"
    "footer{margin-top:4rem;font-size:.8125rem;color:var(--soft)}\n"
    "@media (max-width:30rem){main{padding-top:2.25rem}h1{font-size:1.75rem}h2{margin-top:3rem}"
    "th,td{padding-right:.9rem}td.n,th.n{padding-left:.9rem}dl{gap:.3rem 1.25rem}}\n"
    "@media print{main{max-width:none;padding:0}h2{margin-top:2rem}figure,tr,dl{"
    "break-inside:avoid}h2{break-after:avoid}pre{white-space:pre-wrap;background:none;padding:0}"
    ".wide{overflow:visible}svg{max-width:100%!important;min-width:0!important}}\n";

// Styles for pages of machine runs.
const char report_style_runs[] =
    "td.yes{color:var(--accent);font-weight:600}\n"
    "td.no{color:var(--alarm);font-weight:600}\n"
    "td.time{padding-left:0;padding-right:1.5rem}\n"
    "th.n:first-child{padding-left:0;padding-right:1.5rem}\n"
    ".claims td{padding-right:1rem}\n"
    ".claims td:last-child{padding-right:0}\n"
    ".claims code{overflow-wrap:anywhere}\n"
    ".claims{width:100%}\n"
    ".claims td:first-child,td.of{width:1%;white-space:nowrap}\n"
    "td.figure{font-size:.875rem;color:var(--soft);text-align:right;padding-left:1rem;width:1%;"
    "min-width:11rem}\n"
    "td.of{font-size:.875rem;color:var(--soft)}\n"
    "summary{cursor:pointer;color:var(--soft);font-size:.875rem;margin-bottom:.75rem}\n"
    "summary:focus-visible{outline:2px solid var(--accent);outline-offset:4px}\n"
    "h2 small{font-size:1rem;margin-left:.35em}\n"
    "h2+.facts{margin:-.9rem 0 1.5rem;font-size:.875rem}\n"
    ".hint{margin:-.75rem 0 1.5rem;font-size:.875rem;color:var(--soft)}\n"
    "p.scrub:not(.hint){position:sticky;top:0;z-index:1;display:flex;gap:1rem;padding:.5rem 0;"
    "background:var(--paper);font-size:.875rem;color:var(--soft)}\n"
    "p.scrub[hidden]{display:none}\n"
    ".scrub label{display:flex;flex:1;gap:.75rem;align-items:center}\n"
    ".scrub input{flex:1;min-width:0;accent-color:var(--accent)}\n"
    ".scrub output{min-width:5rem;text-align:right;font-variant-numeric:tabular-nums;"
    "color:var(--text)}\n"
    ".cursor{stroke:var(--accent);stroke-width:1.5;fill:none}\n"
    ".cursor.down{stroke:var(--alarm)}\n"
    "circle.cursor{fill:var(--accent);stroke:var(--paper)}\n"
    ".now{margin:.25rem 0 0;font-size:.875rem;font-variant-numeric:tabular-nums;"
    "overflow-wrap:anywhere}\n"
    "svg.live{margin-top:.75rem}\n"
    "@media print{p.scrub{display:none}}\n"
    "@media (max-width:36rem){.claims tr{display:grid;grid-template-columns:1.6rem 1fr;"
    "padding:.5rem 0;border-bottom:1px solid var(--grid)}.claims,.claims tbody{display:block}"
    ".claims td{grid-column:2;width:auto;min-width:0;padding:0;border:0;text-align:left}"
    ".claims td:first-child{grid-column:1;grid-row:1/4}td.of:empty{display:none}}\n";

// The slider's script. It only sets texts and numbers, never markup.
const char report_script[] =
    "for(const part of document.querySelectorAll('section')){\n"
    "const data=part.querySelector('script[type=\"application/json\"]'),"
    "slider=part.querySelector('.scrub input');\n"
    "if(!data||!slider)continue;\n"
    "const all=JSON.parse(data.textContent),out=part.querySelector('.scrub output');\n"
    "const make=(name,to,set)=>{const "
    "e=document.createElementNS('http://www.w3.org/2000/svg',name);"
    "for(const k in set)e.setAttribute(k,set[k]);to.append(e);return e};\n"
    "const note=(f)=>{let p=f.querySelector('.now');if(!p){p=document.createElement('p');"
    "p.className='now';f.append(p)}return p};\n"
    "const show={\n"
    "time(f,c,i){const[x,y,w,h]=c.frame,p=(all.time[i]-c.from)/(c.to-c.from),svg="
    "f.querySelector('svg');\n"
    "const l=f.querySelector('.cursor')||make('line',svg,{class:c.down?'cursor down':'cursor'});\n"
    "const a=c.down?[x,y+p*h,x+w,y+p*h]:[x+p*w,y,x+p*w,y+h];\n"
    "['x1','y1','x2','y2'].forEach((k,n)=>l.setAttribute(k,a[n]))},\n"
    "path(f,c,i){const q=c.points[i],svg=f.querySelector('svg');\n"
    "const d=f.querySelector('.cursor')||make('circle',svg,{class:'cursor',r:6});\n"
    "d.style.display=q?'':'none';if(q)d.setAttribute('cx',q[0]),d.setAttribute('cy',q[1])},\n"
    "table(f,c,i){let s=f.querySelector('svg.live');const "
    "k=Math.max(4,Math.min(24,320/c.columns));\n"
    "if(!s){s=make('svg',f,{class:'live',width:k*c.columns,height:k*c.rows,role:'img',"
    "'aria-label':'now'});\n"
    "for(let n=0;n<c.rows*c.columns;n++)make('rect',s,{x:n%c.columns*k,y:Math.floor(n/c.columns)*k,"
    "width:k-1,height:k-1})}\n"
    "c.cells[i].forEach((v,n)=>{const r=s.children[n];r.style.fill=v<0?'var(--alarm)':"
    "'var(--accent)';r.style.fillOpacity=c.most>0?Math.abs(v)/c.most:0})},\n"
    "moving(f,c,i){for(const a of f.getAnimations({subtree:true})){a.pause();"
    "a.currentTime=(c.at[i]+.01)/c.of*a.effect.getTiming().duration}}};\n"
    "const move=()=>{const i=+slider.value;out.textContent=all.time[i];\n"
    "for(const f of part.querySelectorAll('[data-scrub]')){const c=all.figures[f.dataset.scrub];"
    "show[c.kind](f,c,i);\n"
    "if(c.lines&&c.lines.length)note(f).textContent=c.lines.map((l)=>l[0]+' = '+l[i+1])"
    ".join(' \\u00b7 ')}};\n"
    "for(const e of part.querySelectorAll('.scrub'))e.hidden=false;\n"
    "out.textContent=all.time[slider.value];slider.addEventListener('input',move)}\n";

// -- escaping -------------------------------------------------------------------------------------
static void html_char(Buf *b, const char *at, size_t n) {
  bool control = ((unsigned char)*at < 32 && *at != '\n' && *at != '\t') || *at == 127;
  if (!control && !put_entity(b, *at)) buf_add(b, at, n);
}

void html_text(Buf *b, const char *text, size_t n) {
  for (size_t i = 0; i < n;) {
    size_t m = character_length(text + i, n - i);
    if (m)
      html_char(b, text + i, m);
    else
      buf_text(b, "\ufffd");
    i += m ? m : 1;
  }
}

// -- a program ------------------------------------------------------------------------------------
// element: the enclosing tag; NULL: none
static void put_piece(Buf *b, const char *element, const char *text, size_t n) {
  if (element) buf_printf(b, "<%s>", element);
  html_text(b, text, n);
  if (element) buf_printf(b, "</%s>", element);
}

// White space and comments between tokens.
static void put_gap(Buf *b, const char *at, const char *end) {
  while (at < end) {
    bool comment = *at == '#';
    const char *next = memchr(at, comment ? '\n' : '#', (size_t)(end - at));
    if (!next) next = end;
    put_piece(b, comment ? "i" : NULL, at, (size_t)(next - at));
    at = next;
  }
}

void html_program(Buf *b, const char *text, size_t n) {
  static const char *const element[] = {
      [TK_WORD] = "b", [TK_NUM] = "u", [TK_STR] = "q", [TK_SYMBOL] = NULL};
  Arena *scratch = arena_child(b->arena);
  Front front = {.arena = scratch, .names = names_new(scratch), .sources = sources_new(scratch)};
  front.diags = diags_new(scratch, front.sources);
  Tokens tokens = lex(&front, source_add(front.sources, "", text, n));
  const char *at = text;
  for (uint32_t i = 0; i < tokens.n; i++) {
    const Token *t = &tokens.at[i];
    const char *start = text + t->span.at;
    if (!t->span.n) continue; // a generated token
    put_gap(b, at, start);
    put_piece(b, element[t->kind], start, t->span.n);
    at = start + t->span.n;
  }
  put_gap(b, at, text + n);
  arena_free(scratch);
}

// -- the table ------------------------------------------------------------------------------------
typedef struct {
  const char *at;
  size_t n;
} CodeWord;

static bool next_word(const char **line, CodeWord *w) {
  const char *at = *line + strspn(*line, " \t");
  w->at = at;
  w->n = strcspn(at, " \t\n");
  *line = at + w->n;
  return w->n > 0;
}

static uint32_t count_words(const char *line) {
  uint32_t n = 0;
  for (CodeWord w; next_word(&line, &w);) n++;
  return n;
}

// Learners in the first line, then goals with a word for each learner.
static bool is_table(const char *text) {
  uint32_t columns = count_words(text), rows = 0;
  for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
    if (count_words(line + 1) != columns + 1) return false;
    rows++;
  }
  return columns && rows;
}

static void who_row(Buf *b, const char *line, bool head) {
  CodeWord w;
  buf_text(b, head ? "<thead><tr><td></td>" : "<tr>");
  for (uint32_t i = 0; next_word(&line, &w); i++) {
    bool name = head || i == 0, none = w.n == 2 && memcmp(w.at, "·", 2) == 0;
    buf_text(b, head   ? "<th scope=\"col\">"
                : name ? "<th scope=\"row\">"
                : none ? "<td class=\"none\">"
                       : "<td>");
    html_text(b, w.at, w.n);
    buf_text(b, name ? "</th>" : "</td>");
  }
  buf_text(b, head ? "</tr></thead><tbody>\n" : "</tr>\n");
}

void html_who(Buf *b, const char *text) {
  if (!is_table(text)) {
    buf_text(b, "<pre tabindex=\"0\">");
    html_text(b, text, strlen(text));
    buf_text(b, "</pre>\n");
    return;
  }
  buf_text(b, "<div class=\"wide\"><table>");
  who_row(b, text, true);
  for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n'))
    who_row(b, line + 1, false);
  buf_text(b, "</tbody></table></div>\n");
}

// -- time -----------------------------------------------------------------------------------------
const char *time_text(Arena *a, double s) {
  if (!(s >= 0) || s > 1e12) return "?";
  if (s < 60) return arena_format(a, s < 10 ? "%.1f s" : "%.0f s", s);
  long long minutes = (long long)(s / 60);
  if (minutes < 60)
    return arena_format(a, "%lld min %.0f s", minutes, floor(s - 60.0 * (double)minutes));
  return arena_format(a, "%lld h %lld min", minutes / 60, minutes % 60);
}
