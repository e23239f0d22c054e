<?xml version="1.0" encoding="UTF-8"?>
<!-- An order becomes a question for prices: an article with its pieces for each line, and how many pieces they are together. -->
<xsl:stylesheet version="1.0"
                xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
                xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"
                xmlns:o="urn:weir:orders"
                xmlns="urn:weir:prices"
                exclude-result-prefixes="o">
  <xsl:template match="/">
    <soap:Envelope>
      <soap:Body>
        <askForPrices customer="{//o:customer}" pieces="{sum(//o:line/o:pieces)}">
          <xsl:for-each select="//o:line">
            <xsl:sort select="o:article"/>
            <article pieces="{o:pieces}"><xsl:value-of select="translate(o:article, 'a', 'A')"/></article>
          </xsl:for-each>
        </askForPrices>
      </soap:Body>
    </soap:Envelope>
  </xsl:template>
</xsl:stylesheet>
