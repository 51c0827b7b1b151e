for(const part of document.querySelectorAll('section')){
const data=part.querySelector('script[type="application/json"]'),slider=part.querySelector('.scrub input');
if(!data||!slider)continue;
const all=JSON.parse(data.textContent),out=part.querySelector('.scrub output');
const make=(name,to,set)=>{const e=document.createElementNS('http://www.w3.org/2000/svg',name);for(const k in set)e.setAttribute(k,set[k]);to.append(e);return e};
const note=(f)=>{let p=f.querySelector('.now');if(!p){p=document.createElement('p');p.className='now';f.append(p)}return p};
const show={
time(f,c,i){const[x,y,w,h]=c.frame,p=(all.time[i]-c.from)/(c.to-c.from),svg=f.querySelector('svg');
const l=f.querySelector('.cursor')||make('line',svg,{class:c.down?'cursor down':'cursor'});
const a=c.down?[x,y+p*h,x+w,y+p*h]:[x+p*w,y,x+p*w,y+h];
['x1','y1','x2','y2'].forEach((k,n)=>l.setAttribute(k,a[n]))},
path(f,c,i){const q=c.points[i],svg=f.querySelector('svg');
const d=f.querySelector('.cursor')||make('circle',svg,{class:'cursor',r:6});
d.style.display=q?'':'none';if(q)d.setAttribute('cx',q[0]),d.setAttribute('cy',q[1])},
table(f,c,i){let s=f.querySelector('svg.live');const k=Math.max(4,Math.min(24,320/c.columns));
if(!s){s=make('svg',f,{class:'live',width:k*c.columns,height:k*c.rows,role:'img','aria-label':'now'});
for(let n=0;n<c.rows*c.columns;n++)make('rect',s,{x:n%c.columns*k,y:Math.floor(n/c.columns)*k,width:k-1,height:k-1})}
c.cells[i].forEach((v,n)=>{const r=s.children[n];r.style.fill=v<0?'var(--alarm)':'var(--accent)';r.style.fillOpacity=c.most>0?Math.abs(v)/c.most:0})},
moving(f,c,i){for(const a of f.getAnimations({subtree:true})){a.pause();a.currentTime=(c.at[i]+.01)/c.of*a.effect.getTiming().duration}}};
const move=()=>{const i=+slider.value;out.textContent=all.time[i];
for(const f of part.querySelectorAll('[data-scrub]')){const c=all.figures[f.dataset.scrub];show[c.kind](f,c,i);
if(c.lines&&c.lines.length)note(f).textContent=c.lines.map((l)=>l[0]+' = '+l[i+1]).join(' \u00b7 ')}};
for(const e of part.querySelectorAll('.scrub'))e.hidden=false;
out.textContent=all.time[slider.value];slider.addEventListener('input',move)}
