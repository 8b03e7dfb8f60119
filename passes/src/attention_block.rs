//! What the loop of [`crate::attention_rows`] does with a block of rows, as text.

use crate::attention_rows::{GROUP, Places, Rows, join, pointer};

impl Rows<'_> {
    /// The type of CBLAS's product of matrices.
    pub fn gemm_type(&self) -> String {
        let e = &self.chain.element;
        format!("(i32, i32, i32, i32, i32, i32, {e}, !llvm.ptr, i32, !llvm.ptr, i32, {e}, !llvm.ptr, i32) -> ()")
    }

    /// The function of a range of blocks. `@SCORE(` and `@MASK(` stand for calls of the functions of the scores' body.
    pub fn body(&self) -> Result<String, String> {
        let e = &self.chain.element;
        let (bytes, low) = if e == "f32" { (4, "0xFF800000") } else { (8, "0xFFF0000000000000") };
        let mut text = self.sizes()?;
        text += &format!(
            "%bytes = arith.constant {bytes} : index\n%zero = arith.constant 0.0 : {e}\n%one = arith.constant 1.0 : {e}\n\
             %low = arith.constant {low} : {e}\n%false = arith.constant false\n%true = arith.constant true\n\
             %group = arith.constant {GROUP} : index\n%row_major = arith.constant 101 : i32\n\
             %straight = arith.constant 111 : i32\n%transposed = arith.constant 112 : i32\n"
        );
        for p in &self.parameters[..4] {
            text += &p.metadata();
        }
        // Rows of the scratch array start on a cache line, and not at the same place of a page.
        text += &format!(
            "%fifteen = arith.constant 15 : index\n%line = arith.constant 16 : index\n%more_keys = arith.addi %keys, %fifteen : index\n\
             %lines = arith.divui %more_keys, %line : index\n%line_keys = arith.muli %lines, %line : index\n\
             %pitch = arith.addi %line_keys, %line : index\n%fewer = arith.minui %block, %rows : index\n\
             %scores = memref.alloc(%fewer, %pitch) {{alignment = 64 : i64}} : memref<?x?x{e}>\n\
             %weighted = memref.alloc(%fewer, %width) {{alignment = 64 : i64}} : memref<?x?x{e}>\n\
             %sums = memref.alloc(%fewer) {{alignment = 64 : i64}} : memref<?x{e}>\n"
        );
        for name in ["scores", "weighted"] {
            text +=
                &format!("%{name}_base = memref.extract_aligned_pointer_as_index %{name} : memref<?x?x{e}> -> index\n");
            text += &pointer(&format!("{name}_at"), &format!("%{name}_base"));
        }
        for (name, value) in
            [("depth", "%depth"), ("width", "%width"), ("scores_ld", "%pitch"), ("weighted_ld", "%width")]
        {
            text += &format!("%{name}_int = arith.index_cast {value} : index to i32\n");
        }
        text += "scf.for %i = %begin to %end step %c1 {\n\
                 %b = arith.divui %i, %blocks : index\n%i_of_batch = arith.remui %i, %blocks : index\n\
                 %row0 = arith.muli %i_of_batch, %block : index\n%left = arith.subi %rows, %row0 : index\n\
                 %n = arith.minui %left, %block : index\n%n_int = arith.index_cast %n : index to i32\n";
        text += &self.limit()?;
        text += "%limit_int = arith.index_cast %limit : index to i32\n";
        text += &self.products()?;
        text += &self.rows()?;
        text += &self.result()?;
        text += &format!(
            "}}\nmemref.dealloc %scores : memref<?x?x{e}>\nmemref.dealloc %weighted : memref<?x?x{e}>\nmemref.dealloc %sums : memref<?x{e}>\n"
        );
        Ok(text)
    }

    /// The call of a function of the scores' body, and its type but for the result.
    fn element_call(&self, name: &str, product: bool, places: &Places) -> String {
        let e = &self.chain.element;
        let loops = self.chain.scores.as_ref().map_or(0, |s| s.stage.sizes.len());
        let mut arguments = vec!["%p".to_string(); usize::from(product)];
        let mut types = vec![e.clone(); usize::from(product)];
        arguments.extend((0..loops).map(|dim| places.of(Some(dim)).to_string()));
        types.extend((0..loops).map(|_| "index".to_string()));
        arguments.extend(self.extras().iter().map(|p| format!("%{}", p.name)));
        types.extend(self.extras().iter().map(|p| p.ty().to_string()));
        format!("func.call @{name}({}) : ({})", arguments.join(", "), types.join(", "))
    }

    /// `%limit`: the end of the last group of keys of which one counts for a row of the block.
    fn limit(&self) -> Result<String, String> {
        let Some((scores, (_, where_it_holds))) = self.chain.scores.as_ref().and_then(|s| Some((s, s.masked()?)))
        else {
            return Ok("%limit = arith.addi %keys, %c0 : index\n".into());
        };
        let (batches, places) = self.places("m", &scores.stage, "%row", "%key")?;
        let call = self.element_call("MASK", false, &places);
        let counts = if where_it_holds { "arith.xori %asked, %true" } else { "arith.andi %asked, %true" };
        Ok(format!(
            "{batches}%limit = scf.while (%to = %keys) : (index) -> index {{\n\
             %past = arith.subi %to, %c1 : index\n%groups = arith.divui %past, %group : index\n\
             %some = arith.cmpi ugt, %to, %c0 : index\n%from_first = arith.muli %groups, %group : index\n\
             %from = arith.select %some, %from_first, %c0 : index\n\
             %any = scf.for %r = %c0 to %n step %c1 iter_args(%before = %false) -> (i1) {{\n\
             %row = arith.addi %row0, %r : index\n\
             %now = scf.for %key = %from to %to step %c1 iter_args(%so_far = %before) -> (i1) {{\n\
             %asked = {call} -> i1\n%counts = {counts} : i1\n%either = arith.ori %so_far, %counts : i1\nscf.yield %either : i1\n}}\n\
             scf.yield %now : i1\n}}\n\
             %none = arith.xori %any, %true : i1\n%on = arith.andi %some, %none : i1\n\
             %next = arith.select %on, %from, %to : index\nscf.condition(%on) %next : index\n\
             }} do {{\n^bb0(%to: index):\nscf.yield %to : index\n}}\n"
        ))
    }

    /// Products of queries and keys.
    fn products(&self) -> Result<String, String> {
        let chain = self.chain;
        let roles = &chain.products.roles;
        let [q, k] = [0, 1].map(|i| &self.parameters[i]);
        let (mut text, mut places) = self.places("p", &chain.products, "%row0", "%c0")?;
        let (q_flag, q_ld) = q.matrix(roles.row, chain.depth);
        let (k_flag, k_ld) = k.matrix(chain.depth, roles.column);
        places.set(chain.depth, "%c0");
        text += &(q.pointer(&places) + &k.pointer(&places) + &q_ld + &k_ld);
        Ok(text
            + &format!(
                "func.call @{}(%row_major, {q_flag}, {k_flag}, %n_int, %limit_int, %depth_int, %one, %q_at, %q_ld, %k_at, %k_ld, %zero, %scores_at, %scores_ld_int) : {}\n",
                self.gemm(),
                self.gemm_type()
            ))
    }

    /// Scores, exponentials and sums.
    fn rows(&self) -> Result<String, String> {
        let e = &self.chain.element;
        let (batches, score) = match &self.chain.scores {
            Some(scores) => {
                let (batches, places) = self.places("s", &scores.stage, "%row", "%key")?;
                let call = self.element_call("SCORE", true, &places);
                (batches, format!("%s = {call} -> {e}\nmemref.store %s, %scores[%r, %key] : memref<?x?x{e}>\n"))
            }
            None => (String::new(), String::new()),
        };
        let s = if score.is_empty() { "%p" } else { "%s" };
        // What is subtracted and what is divided by where a row has no keys that count: for zeros, and for no keys at all where the
        // weights are quotients, which are none then.
        let (less, divisor) = match (self.chain.empty_is_zero, &self.chain.end) {
            (true, _) => (
                format!("%none = arith.cmpf oeq, %max, %low : {e}\n%base = arith.select %none, %zero, %max : {e}\n"),
                format!("%divisor = arith.select %none, %one, %sum : {e}\n"),
            ),
            (false, None) => (
                String::new(),
                format!("%none = arith.cmpi eq, %keys, %c0 : index\n%divisor = arith.select %none, %one, %sum : {e}\n"),
            ),
            (false, Some(_)) => Default::default(),
        };
        let base = if less.is_empty() { "%max" } else { "%base" };
        let sum = if divisor.is_empty() { "%sum" } else { "%divisor" };
        Ok(format!(
            "{batches}scf.for %r = %c0 to %n step %c1 {{\n\
             %row = arith.addi %row0, %r : index\n\
             %max = scf.for %key = %c0 to %limit step %c1 iter_args(%most = %low) -> ({e}) {{\n\
             %p = memref.load %scores[%r, %key] : memref<?x?x{e}>\n{score}\
             %more = arith.maximumf %most, {s} : {e}\nscf.yield %more : {e}\n}}\n{less}\
             %sum = scf.for %key = %c0 to %limit step %c1 iter_args(%part = %zero) -> ({e}) {{\n\
             %score = memref.load %scores[%r, %key] : memref<?x?x{e}>\n%less = arith.subf %score, {base} : {e}\n\
             %weight = math.exp %less : {e}\nmemref.store %weight, %scores[%r, %key] : memref<?x?x{e}>\n\
             %next = arith.addf %part, %weight fastmath<reassoc> : {e}\nscf.yield %next : {e}\n}}\n\
             {divisor}memref.store {sum}, %sums[%r] : memref<?x{e}>\n}}\n"
        ))
    }

    /// The product with the values, divided by the sums.
    fn result(&self) -> Result<String, String> {
        let (e, chain) = (&self.chain.element, self.chain);
        let roles = &chain.context.roles;
        let [v, o] = [2, 3].map(|i| &self.parameters[i]);
        let (mut text, mut places) = self.places("v", &chain.context, "%row0", "%c0")?;
        places.set(chain.width, "%c0");
        let (v_flag, v_ld) = v.matrix(roles.column, chain.width);
        text += &(v.pointer(&places) + &v_ld);
        text += &format!(
            "func.call @{}(%row_major, %straight, {v_flag}, %n_int, %width_int, %limit_int, %one, %scores_at, %scores_ld_int, %v_at, %v_ld, %zero, %weighted_at, %weighted_ld_int) : {}\n",
            self.gemm(),
            self.gemm_type()
        );
        let (batches, mut places) = self.places("o", chain.last_stage(), "%row", "%column")?;
        if chain.end.is_none() {
            places.set(chain.width, "%column");
        }
        let at = join(&o.operand.axes, |dim| places.of(*dim).to_string());
        Ok(text
            + &batches
            + &format!(
                "scf.for %r = %c0 to %n step %c1 {{\n%row = arith.addi %row0, %r : index\n\
                 %sum = memref.load %sums[%r] : memref<?x{e}>\n\
                 scf.for %column = %c0 to %width step %c1 {{\n%all = memref.load %weighted[%r, %column] : memref<?x?x{e}>\n\
                 %mean = arith.divf %all, %sum : {e}\nmemref.store %mean, %o[{at}] : {}\n}}\n}}\n",
                o.ty()
            ))
    }

    /// The name of CBLAS's product of matrices.
    pub fn gemm(&self) -> &'static str {
        if self.chain.element == "f32" { "cblas_sgemm" } else { "cblas_dgemm" }
    }
}
